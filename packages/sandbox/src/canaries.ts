import { posix } from 'node:path';
import { isSecretPath } from '@assay-mcp/kit/secret-files';

/** Made-up secrets, by their path in the home folder. `mark` makes them recognisable wherever they turn up. */
export function buildCanaryFiles(mark: string): Readonly<Record<string, string>> {
  const key = Buffer.from(`openssh-key-v1 ${mark} not a key`).toString('base64');
  return {
    '.ssh/id_rsa': `-----BEGIN OPENSSH PRIVATE KEY-----\n${key}\n-----END OPENSSH PRIVATE KEY-----\n`,
    '.ssh/id_ed25519': `-----BEGIN OPENSSH PRIVATE KEY-----\n${key}\n-----END OPENSSH PRIVATE KEY-----\n`,
    '.aws/credentials': `[default]\naws_access_key_id = AKIA${mark.slice(0, 16).toUpperCase()}\naws_secret_access_key = ${mark}\n`,
    '.config/gcloud/application_default_credentials.json': `{"type":"authorized_user","refresh_token":"${mark}"}\n`,
    '.docker/config.json': `{"auths":{"registry.invalid":{"auth":"${mark}"}}}\n`,
    '.kube/config': `apiVersion: v1\nkind: Config\nusers:\n- name: user\n  user:\n    token: ${mark}\n`,
    '.env': `API_KEY=${mark}\n`,
    '.git-credentials': `https://user:${mark}@git.invalid\n`,
    '.netrc': `machine api.invalid login user password ${mark}\n`,
  };
}

/** Whether a canary or a well-known secret is at an absolute path. */
export function findSecretAt(
  path: string,
  home: string,
  canaries: ReadonlySet<string>,
): 'canary' | 'secret' | undefined {
  const inHome = posix.relative(home, path);
  if (canaries.has(inHome)) return 'canary';
  return isSecretPath(path, inHome) ? 'secret' : undefined;
}
