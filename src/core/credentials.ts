import type { ServerSpec } from './server-spec.ts';

/** Names of variables, headers and options that hold a secret. */
const SECRET_NAME =
  /token|secret|passw|passphrase|credential|authorization|cookie|(?:api|access|private)[-_]?key|(?:^|[-_])(?:auth|pat|pwd|key)$/i;
/** Beginnings that well-known kinds of secrets have. */
const SECRET_VALUE =
  /^(?:Bearer|Basic) \S|^(?:sk|pk|rk)[-_]\w|^gh[opsu]_\w|^github_pat_|^glpat-|^xox[abprs]-|^AKIA[A-Z0-9]|^eyJ\w/;

/** Whether a member of `env` or `headers`, as somebody wrote it, looks as if it had to be kept from others. */
export function looksLikeCredential(name: string, value: string): boolean {
  if (value === '' || value.includes('${')) return false;
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** Shorter values stand in other texts by chance. */
const SHORTEST_SECRET = 4;

/** All that the config of a server says which may be secret: what is in `env` and `headers`, and options for secrets. */
export function secretsOf({ transport }: ServerSpec): readonly string[] {
  const given =
    transport.kind === 'stdio'
      ? [...Object.values(transport.env), ...secretArguments(transport.args)]
      : [
          ...Object.values(transport.headers).flatMap((value) => [value, ...value.split(' ')]),
          ...transport.url.searchParams.values(),
        ];
  return given
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((one, other) => other.length - one.length);
}

/** `--token=x` and `--token x`. */
function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const [, option = '', value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!SECRET_NAME.test(option)) return [];
    return [value ?? args[index + 1] ?? ''];
  });
}

/** A text of a server, which may repeat what it was given, without that. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '[hidden]'), text);
}
