import { posix, win32 } from 'node:path';

/** What runs `assay serve` permanently for one user. */
export interface ServiceRequest {
  readonly platform: 'linux' | 'darwin' | 'win32';
  /** Tells the services of several homes apart: `assay`, or `assay-` and a hash. */
  readonly name: string;
  /** Executable and arguments, with absolute paths. */
  readonly command: readonly string[];
  /** The data folder of Assay, in which it starts. */
  readonly assayHome: string;
  readonly userHome: string;
  /** `XDG_CONFIG_HOME`, if it is absolute. */
  readonly configHome: string | undefined;
  /** The only variable that is copied: without it, servers that are started by name are not found. */
  readonly path: string;
  readonly userId: number;
}

/** The file of a service, and the commands that put it into effect and take it back. */
export interface ServicePlan {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
  readonly install: readonly (readonly string[])[];
  readonly remove: readonly (readonly string[])[];
  /** Run after the file was removed. */
  readonly removed: readonly (readonly string[])[];
  /** What the user of the command should know. */
  readonly note: string;
  /** What to do if the program of the commands is missing. */
  readonly withoutManager: string;
}

/** Stands in each file, so that no other file is overwritten or removed. */
export const SERVICE_MARK = 'Written by `assay service install`';

/** Undefined if a path has a control character, which no format can hold safely. */
export function planService(request: ServiceRequest): ServicePlan | undefined {
  const { command, assayHome, path } = request;
  // eslint-disable-next-line no-control-regex -- these are what is refused
  if ([...command, assayHome, path].some((text) => /[\u0000-\u001F\u007F]/.test(text))) return undefined;
  // A backslash at the end of a line of a unit continues it.
  if (request.platform === 'linux' && assayHome.endsWith('\\')) return undefined;
  return PLANS[request.platform](request);
}

const PLANS: Readonly<Record<ServiceRequest['platform'], (request: ServiceRequest) => ServicePlan>> = {
  linux: planUnit,
  darwin: planAgent,
  win32: planTask,
};

/** https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html */
function planUnit({ name, command, assayHome, userHome, configHome, path }: ServiceRequest): ServicePlan {
  const unit = `${name}.service`;
  const folder = configHome ?? posix.join(userHome, '.config');
  const systemctl = ['systemctl', '--user'];
  // Variables are expanded in arguments, but not in the path of the executable.
  const [executable = '', ...args] = command;
  const words = [quoteUnitWord(executable), ...args.map((arg) => quoteUnitWord(arg.replaceAll('$', '$$$$')))];
  return {
    name: unit,
    file: {
      path: posix.join(folder, 'systemd', 'user', unit),
      text: `# ${SERVICE_MARK}
[Unit]
Description=Assay MCP gateway

[Service]
ExecStart=${words.join(' ')}
WorkingDirectory=${assayHome.replaceAll('%', '%%')}
Environment=${quoteUnitWord(`PATH=${path}`)}
Restart=always
RestartSec=5
# A mistake in the config does not go away by starting again.
RestartPreventExitStatus=2 3

[Install]
WantedBy=default.target
`,
    },
    install: [
      [...systemctl, 'daemon-reload'],
      [...systemctl, 'enable', unit],
      [...systemctl, 'restart', unit],
    ],
    remove: [[...systemctl, 'disable', '--now', unit]],
    removed: [[...systemctl, 'daemon-reload']],
    note: 'It runs while you are logged in. `loginctl enable-linger` lets it start with the machine.',
    withoutManager: 'This machine has no `systemctl`. Have its own service manager run: ',
  };
}

/** A word in which nothing is expanded: quotes and backslashes are escaped, `%` starts a specifier. */
function quoteUnitWord(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('%', '%%')}"`;
}

/** launchd.plist(5) */
function planAgent({ name, command, assayHome, userHome, path, userId }: ServiceRequest): ServicePlan {
  const label = `dev.assay.${name}`;
  const file = posix.join(userHome, 'Library', 'LaunchAgents', `${label}.plist`);
  const text = (value: string): string => `<string>${escapeXml(value)}</string>`;
  const domain = `gui/${userId}`;
  return {
    name: label,
    file: {
      path: file,
      text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${SERVICE_MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(label)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  ${text(assayHome)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${text(path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
</dict>
</plist>
`,
    },
    install: [['launchctl', 'bootstrap', domain, file]],
    remove: [['launchctl', 'bootout', `${domain}/${label}`]],
    removed: [],
    note: 'It runs while you are logged in.',
    withoutManager: 'This machine has no `launchctl`. Have its own service manager run: ',
  };
}

/** https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema */
function planTask({ name, command, assayHome }: ServiceRequest): ServicePlan {
  const [executable = '', ...args] = command;
  const file = win32.join(assayHome, `${name}-task.xml`);
  return {
    name,
    file: {
      path: file,
      // ASCII only, as the tool expects UTF-16 and this file is UTF-8.
      text: escapeBeyondAscii(`<?xml version="1.0"?>
<!-- ${SERVICE_MARK} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${escapeXml(executable)}</Command>
      <Arguments>${escapeXml(args.map(quoteWindowsArgument).join(' '))}</Arguments>
      <WorkingDirectory>${escapeXml(assayHome)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`),
    },
    install: [
      ['schtasks', '/Create', '/TN', name, '/XML', file, '/F'],
      ['schtasks', '/Run', '/TN', name],
    ],
    remove: [
      ['schtasks', '/End', '/TN', name],
      ['schtasks', '/Delete', '/TN', name, '/F'],
    ],
    removed: [],
    note: 'It runs while you are logged in.',
    withoutManager: 'This machine has no `schtasks`. Have its own service manager run: ',
  };
}

function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replaceAll(/[&<>"]/g, (char) => names[char] ?? char);
}

function escapeBeyondAscii(text: string): string {
  return text.replaceAll(/[^\n -~]/gu, (char) => `&#${char.codePointAt(0) ?? 0};`);
}

/** For `CommandLineToArgvW`: backslashes count only before a quote. */
function quoteWindowsArgument(text: string): string {
  if (/^[\w.:\\/=-]+$/.test(text)) return text;
  return `"${text.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replaceAll(/(\\+)$/g, '$1$1')}"`;
}
