import { afterAll } from 'vitest';
import { endOpened } from './endings.ts';

// A setup file: it runs for each test file, even if several share one process and its modules.
afterAll(endOpened);
