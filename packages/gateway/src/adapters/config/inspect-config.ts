import type { Node } from 'jsonc-parser';
import type { ConfigFacts } from '../../core/check-config.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { readText } from '@assay-mcp/kit/platform/files';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { formatKeyPath, type ConfigProblem } from './problem-collector.ts';
import { getTreeMembers, parseJsonTree } from './json-tree.ts';
import { type Config, type ConfigEnvironment, loadConfig } from './load-config.ts';
import type { ConfigLocation } from '@assay-mcp/kit/platform/locate-config';

/** Whether a variable or header with this name and value looks like a secret. */
export type LooksSecret = (name: string, value: string) => boolean;

/** A loaded config and the facts for diagnostics. */
export interface InspectedConfig {
  /** Undefined if the file cannot be used at all. */
  readonly config: Config | undefined;
  readonly facts: Omit<ConfigFacts, 'settingFaults'>;
}

export async function inspectConfig(
  { path, origin }: ConfigLocation,
  environment: ConfigEnvironment,
  looksSecret: LooksSecret,
): Promise<InspectedConfig> {
  const loaded = loadConfig(path, environment);
  const file = await inspectPath(path);
  if (!loaded.ok) {
    const sentence = formatRefusal(loaded.error);
    const reading = { kind: 'refused', sentence, isAbsent: file === undefined } as const;
    return { config: undefined, facts: { path, origin, reading } };
  }
  const { servers, problems, warnings } = loaded.value;
  const faults = [...problems.map(faultOf('problem')), ...warnings.map(faultOf('warning'))];
  const text = await readText(path);
  const written = text.ok ? serverMembersIn(text.value) : [];
  const reading = {
    kind: 'read',
    servers: servers.length,
    faults,
    mode: file?.mode,
    clearSecrets: written.flatMap((member) => clearSecretsIn(member, looksSecret)),
    secretArguments: written.flatMap((member) => secretArgumentsIn(member, looksSecret)),
  } as const;
  return { config: loaded.value, facts: { path, origin, reading } };
}

type Read = Extract<ConfigFacts['reading'], { kind: 'read' }>;

function faultOf(level: 'problem' | 'warning'): (problem: ConfigProblem) => Read['faults'][number] {
  return ({ line, column, key, reason, remedy }) => ({ level, line, column, key, reason, remedy });
}

/** A member of a server's entry, such as `env`. */
interface ServerMember {
  readonly path: readonly string[];
  readonly name: string;
  readonly value: Node;
}

function serverMembersIn(text: string): readonly ServerMember[] {
  const root = parseJsonTree(text);
  if (!root.ok) return [];
  return getTreeMembers(root.value)
    .filter(({ key }) => key === 'mcpServers' || key === 'servers')
    .flatMap(({ key, value }) =>
      getTreeMembers(value).flatMap((server) =>
        getTreeMembers(server.value).map((member) => ({
          path: [key, server.key, member.key],
          name: member.key,
          value: member.value,
        })),
      ),
    );
}

/** Keys of variables and headers whose literal values look like secrets. */
function clearSecretsIn({ path, name, value }: ServerMember, looksSecret: LooksSecret): readonly string[] {
  if (name !== 'env' && name !== 'headers') return [];
  return getTreeMembers(value)
    .filter((member) => {
      const text = textOf(member.value);
      return isWrittenOut(text) && looksSecret(member.key, text);
    })
    .map((member) => formatKeyPath([...path, member.key]));
}

/** Keys of arguments that look like secrets: `--token=x`, `--token x`, `Authorization: Bearer x`, or a known token. */
function secretArgumentsIn({ path, name, value }: ServerMember, looksSecret: LooksSecret): readonly string[] {
  if (name !== 'args' || value.type !== 'array') return [];
  const args = (value.children ?? []).map(textOf);
  return args.flatMap((arg, index) => {
    const [, label = '', labelled = ''] = /^-{0,2}([A-Za-z][\w-]*)[=:]\s*(\S.*)$/s.exec(arg) ?? [];
    const [, flag = ''] = /^-{1,2}([A-Za-z][\w-]*)$/.exec(args[index - 1] ?? '') ?? [];
    const isSecret =
      isWrittenOut(arg) &&
      !arg.startsWith('--no-') &&
      (looksSecret('', arg) ||
        (isValue(labelled) && looksSecret(label, labelled)) ||
        (isValue(arg) && looksSecret(flag, arg)));
    return isSecret ? [formatKeyPath([...path, index])] : [];
  });
}

function textOf({ type, value }: Node): string {
  return type === 'string' ? String(value) : '';
}

/** Not another option, and not a path: keys may be in files. */
function isValue(text: string): boolean {
  return text !== '' && !/^(?:-|~?\/|\.{1,2}\/|[A-Za-z]:\\|[a-z]+:\/\/)/.test(text);
}

/** A variable reference keeps the secret out of the file. */
function isWrittenOut(value: string): boolean {
  return value !== '' && !value.includes('${');
}
