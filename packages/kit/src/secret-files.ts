/*
 * Files and folders that hold keys and credentials, judged by their paths alone. One list, for all parts of Assay that
 * treat them differently from other files.
 */

/** Folders and files in a user's home folder, relative to it. */
export const SECRETS_IN_HOME: readonly string[] = [
  ...['.ssh', '.aws', '.gnupg', '.azure', '.kube', '.docker', '.mozilla', '.password-store', '.oci'],
  ...['.config/gcloud', '.config/gh', '.config/op', '.config/google-chrome', '.config/chromium'],
  ...['.local/share/keyrings', '.claude.json', '.codex/auth.json'],
  ...['Library/Keychains', 'AppData/Roaming/gcloud', 'AppData/Local/Google/Chrome/User Data'],
];

/** Folders and files of the system. */
export const SECRETS_IN_SYSTEM: readonly string[] = [
  ...['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssl/private'],
  ...['/run/secrets', '/run/credentials'],
];

/** Folders with these names hold secrets in any place, such as the home folder of another user. */
export function isSecretFolder(name: string): boolean {
  return FOLDERS.has(name);
}

/** Whether a file with this name usually contains secrets. Samples such as `.env.example` do not. */
export function isSecretFile(name: string): boolean {
  return (FILES.has(name.toLowerCase()) || PATTERN.test(name)) && !SAMPLE.test(name);
}

/** Whether well-known secrets are at an absolute path. `inHome` is the path relative to the user's home folder. */
export function isSecretPath(path: string, inHome: string): boolean {
  const isAt = (at: string) => (secret: string) => at === secret || at.startsWith(`${secret}/`);
  return (
    SECRETS_IN_HOME.some(isAt(inHome)) ||
    SECRETS_IN_SYSTEM.some(isAt(path)) ||
    (!inHome.includes('/') && isSecretFile(inHome)) ||
    IN_SYSTEM.test(path)
  );
}

const IN_SYSTEM = /^\/etc\/ssh\/ssh_host_.*_key$|^\/proc\/\d+\/environ$/;

const FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg', '.password-store']);

const FILES: ReadonlySet<string> = new Set([
  ...['.npmrc', '.pypirc', '.netrc', '_netrc', '.pgpass', '.htpasswd', '.my.cnf', '.s3cfg', '.boto'],
  ...['.git-credentials', '.vault-token', '.dockercfg', '.envrc', '.terraformrc', 'terraform.rc'],
  ...['credentials', '.credentials', 'kubeconfig', 'application_default_credentials.json'],
]);

const PATTERN: RegExp = new RegExp(
  [
    '^[.]env(?:[.]|$)|[.]env$',
    '[.](?:pem|key|p12|pfx|jks|keystore|ppk|kdbx|tfstate|tfstate[.]backup|kubeconfig)$',
    // Private keys of SSH; their public halves end with `.pub`.
    '^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?![a-z0-9])(?!.*[.]pub$)|^id_[^.]+$',
    '^[.]?credentials[.](?:json|toml|ya?ml|ini|db|csv|tfrc[.]json)$|^client_secret.*[.]json$',
    '^service[-_]?account.*[.]json$|^[.]\\w+_history$',
  ].join('|'),
  'i',
);

const SAMPLE = /[.](?:example|sample|template|dist|defaults)$|^(?:example|sample|template)[.]/i;
