import { expect, it } from 'vitest';
import { locateConfig, type ConfigHints, type ConfigLocation } from '@assay-mcp/kit/platform/locate-config';

function check(hints: Partial<ConfigHints>, expected: ConfigLocation): void {
  expect(locateConfig({ flag: undefined, env: {}, cwd: '/here', home: '/home/ada', ...hints })).toEqual(
    expected,
  );
}

it('the flag takes precedence over the environment, and is relative to the working directory', () => {
  const env = { ASSAY_CONFIG: '/e.json', ASSAY_HOME: '/h' };
  check({ flag: 'x/mcp.json', env }, { path: '/here/x/mcp.json', origin: '--config' });
  check({ flag: '/a.json', env }, { path: '/a.json', origin: '--config' });
  check({ flag: '~/a.json', env }, { path: '/home/ada/a.json', origin: '--config' });
});
it('ASSAY_CONFIG takes precedence over ASSAY_HOME', () => {
  check(
    { env: { ASSAY_CONFIG: 'e.json', ASSAY_HOME: '/h' } },
    { path: '/here/e.json', origin: 'ASSAY_CONFIG' },
  );
});
it("the default is mcp.json in Assay's home", () => {
  check({ env: { ASSAY_HOME: 'h' } }, { path: '/here/h/mcp.json', origin: 'ASSAY_HOME' });
  check({ env: { ASSAY_HOME: '~/h' } }, { path: '/home/ada/h/mcp.json', origin: 'ASSAY_HOME' });
  check({}, { path: '/home/ada/.assay/mcp.json', origin: 'default' });
});
it('an empty variable counts as unset', () => {
  check(
    { env: { ASSAY_CONFIG: '', ASSAY_HOME: '' } },
    { path: '/home/ada/.assay/mcp.json', origin: 'default' },
  );
});
