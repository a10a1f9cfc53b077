import type { SecretMembers } from '../../gateway/ports/bundles.ts';
import { CREDENTIAL_MEMBERS } from '../../core/secrets/credential-members.ts';
import { isCredentialName } from '@assay-mcp/kit/credential-names';
import { listServerSecrets } from '../../core/secrets/secret-values.ts';
import { Secrets } from '../../core/secrets/secrets.ts';

/** Members whose values are always treated as secret. */
const SECRET: ReadonlySet<string> = new Set(CREDENTIAL_MEMBERS.filter((name) => name !== 'headerCommand'));

/** The entry's members that contain a secret. Here even secrets too short to mask in texts count. */
export const findSecretMembers: SecretMembers = (entry, spec) => {
  const secrets = new Secrets();
  // Placeholders for arguments are not secrets, whatever their names.
  secrets.add(listServerSecrets(spec).filter((secret) => !PLACEHOLDER.test(secret)));
  return Object.entries(entry)
    .filter(
      ([name, value]) =>
        SECRET.has(name) ||
        textsIn(value).some((text) => secrets.mask(text) !== text || isTellingUrl(text)) ||
        ((name === 'args' || name === 'headerCommand') && hasCredential(textsIn(value))),
    )
    .map(([name]) => name);
};

const PLACEHOLDER = /^\{[^{}]*\}$/;

function isTellingUrl(text: string): boolean {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return false;
  const isNamed = [...url.searchParams].some(
    ([name, value]) => isCredentialName(name) && value !== '' && !PLACEHOLDER.test(value),
  );
  return url.password !== '' || url.username !== '' || isNamed;
}

/** `--token x`, `--token=x`, `Token: x` */
function hasCredential(args: readonly string[]): boolean {
  return args.some((arg, index) => {
    const [, name = '', value] = /^-{0,2}([A-Za-z][\w-]*)(?:[=:](.+))?$/s.exec(arg) ?? [];
    if (name === '' || !isCredentialName(name)) return false;
    return value !== undefined || (arg.startsWith('-') && index + 1 < args.length);
  });
}

/** All strings in a JSON value, including member names. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]);
}
