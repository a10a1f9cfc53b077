import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Most tests wait for processes that they started, so more of them than there are cores run at a time.
    maxWorkers: 4,
    // Named, because vitest otherwise chooses by who is watching: the last lines are to be its summary everywhere.
    reporters: ['default'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

export default config;
