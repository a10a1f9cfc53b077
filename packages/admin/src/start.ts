// The program is evaluated in parts, each in a separate task, so that none blocks the page for long.
await import('react-dom/client');
await import('@tanstack/react-router');
await import('./parts/page.tsx'); // With everything else that the pages share.
await import('./main.tsx');
