// The program is evaluated in parts, each in a task of its own, so that none blocks the page for long.
await import('react-dom/client');
await import('@tanstack/react-router');
await import('./parts/page.tsx'); // with all else that pages share
await import('./main.tsx');
