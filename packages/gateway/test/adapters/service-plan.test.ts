import { expect, it } from 'vitest';
import { planService, type ServiceRequest } from '../../src/adapters/service/service-plan.ts';

const ODD = 'a b%h"c&<d>$e\\f';
const request = (platform: ServiceRequest['platform']): ServiceRequest => ({
  platform,
  name: 'assay',
  command: [`/opt/${ODD}/node`, '/main.js', 'serve', '--home', `/srv/${ODD}x`],
  assayHome: `/srv/${ODD}x`,
  userHome: '/home/ada',
  configHome: undefined,
  path: `/bin:/${ODD}`,
  userId: 7,
});

it('a unit of systemd quotes words and doubles percent and dollar signs', () => {
  const plan = planService(request('linux'));
  expect(plan?.file).toEqual({
    path: '/home/ada/.config/systemd/user/assay.service',
    text: `# Written by \`assay service install\`
[Unit]
Description=Assay MCP gateway

[Service]
ExecStart="/opt/a b%%h\\"c&<d>$e\\\\f/node" "/main.js" "serve" "--home" "/srv/a b%%h\\"c&<d>$$e\\\\fx"
WorkingDirectory=/srv/a b%%h"c&<d>$e\\fx
Environment="PATH=/bin:/a b%%h\\"c&<d>$e\\\\f"
Restart=always
RestartSec=5
# A mistake in the config does not go away by starting again.
RestartPreventExitStatus=2 3

[Install]
WantedBy=default.target
`,
  });
});

it('an agent of launchd escapes XML', () => {
  const escaped = 'a b%h&quot;c&amp;&lt;d&gt;$e\\f';
  expect(planService(request('darwin'))?.file).toEqual({
    path: '/home/ada/Library/LaunchAgents/dev.assay.assay.plist',
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by \`assay service install\` -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>dev.assay.assay</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/${escaped}/node</string>
    <string>/main.js</string>
    <string>serve</string>
    <string>--home</string>
    <string>/srv/${escaped}x</string>
  </array>
  <key>WorkingDirectory</key>
  <string>/srv/${escaped}x</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>/bin:/${escaped}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
</dict>
</plist>
`,
  });
});

it('a task of Windows quotes arguments, escapes XML and is ASCII', () => {
  const home = 'C:\\Üsers\\a & b\\';
  const command = ['C:\\Program Files\\node.exe', 'C:\\main.js', 'serve', '--home', home, 'a\\"b'];
  const plan = planService({ ...request('win32'), command, assayHome: home });
  const text = plan?.file.text ?? '';
  expect(plan?.file.path).toBe('C:\\Üsers\\a & b\\assay-task.xml');
  expect(text).toContain('<Command>C:\\Program Files\\node.exe</Command>');
  expect(text).toContain(
    '<Arguments>C:\\main.js serve --home &quot;C:\\&#220;sers\\a &amp; b\\\\&quot; &quot;a\\\\\\&quot;b&quot;</Arguments>',
  );
  expect(text).toContain('<WorkingDirectory>C:\\&#220;sers\\a &amp; b\\</WorkingDirectory>');
  expect(text).toMatch(/^[\n -~]*$/);
});

it('a path that could add a line to the file is refused', () => {
  for (const bad of ['/srv/a\nExecStartPre=/bin/evil', '/srv/\u0000'])
    expect(planService({ ...request('linux'), assayHome: bad })).toBeUndefined();
  expect(planService({ ...request('linux'), path: '/bin\n' })).toBeUndefined();
  expect(planService({ ...request('linux'), assayHome: '/srv/a\\' })).toBeUndefined();
});
