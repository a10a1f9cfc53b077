import { afterAll } from 'vitest';
import { endOpened } from './endings.ts';

// A setup file, which runs for each test file also where several share one process and its modules.
afterAll(endOpened);
