import type { ConfigFacts } from '../../core/check-config.ts';
import { sentenceOf } from '../../core/sentences.ts';
import { readText } from '../../platform/files.ts';
import { pathFacts } from '../../platform/machine.ts';
import { keyOf, type ConfigProblem } from './complaints.ts';
import { membersOf, parseJsonTree } from './json-tree.ts';
import { type Config, type ConfigEnvironment, loadConfig } from './load-config.ts';
import type { ConfigLocation } from './locate-config.ts';

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
  around: ConfigEnvironment,
  looksSecret: LooksSecret,
): Promise<InspectedConfig> {
  const loaded = await loadConfig(path, around);
  const file = await pathFacts(path);
  if (!loaded.ok) {
    const sentence = sentenceOf(loaded.error);
    const reading = { kind: 'refused', sentence, isAbsent: file === undefined } as const;
    return { config: undefined, facts: { path, origin, reading } };
  }
  const { servers, problems, warnings } = loaded.value;
  const complaints = [...problems.map(complaintOf('problem')), ...warnings.map(complaintOf('warning'))];
  const text = await readText(path);
  const clearSecrets = text.ok ? clearSecretsIn(text.value, looksSecret) : [];
  const reading = {
    kind: 'read',
    servers: servers.length,
    complaints,
    mode: file?.mode,
    clearSecrets,
  } as const;
  return { config: loaded.value, facts: { path, origin, reading } };
}

type Read = Extract<ConfigFacts['reading'], { kind: 'read' }>;

function complaintOf(level: 'problem' | 'warning'): (problem: ConfigProblem) => Read['complaints'][number] {
  return ({ line, column, key, reason, remedy }) => ({ level, line, column, key, reason, remedy });
}

/** Keys whose literal values look like secrets. */
function clearSecretsIn(text: string, looksSecret: LooksSecret): readonly string[] {
  const root = parseJsonTree(text);
  if (!root.ok) return [];
  return membersOf(root.value).flatMap(({ key, value }) =>
    key !== 'mcpServers' && key !== 'servers'
      ? []
      : membersOf(value).flatMap((server) =>
          membersOf(server.value).flatMap((field) =>
            field.key !== 'env' && field.key !== 'headers'
              ? []
              : membersOf(field.value)
                  .filter(
                    (member) =>
                      member.value.type === 'string' &&
                      isWrittenOut(String(member.value.value)) &&
                      looksSecret(member.key, String(member.value.value)),
                  )
                  .map((member) => keyOf([key, server.key, field.key, member.key])),
          ),
        ),
  );
}

/** A variable reference keeps the secret out of the file. */
function isWrittenOut(value: string): boolean {
  return value !== '' && !value.includes('${');
}
