const NEEDED = [22, 23];

/** Whether this Node is new enough; if not, says so and sets the exit code. An older one must be able to parse this. */
export function hasNeededNode(program: string): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [neededMajor = 0, neededMinor = 0] = NEEDED;
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return true;
  process.stderr.write(
    `${program} needs Node ${NEEDED.join('.')} or newer; this is ${process.version} (${process.execPath}).\n` +
      'Install a newer one, for example with `npm install --global node@24`, or from https://nodejs.org.\n',
  );
  process.exitCode = 1;
  return false;
}

/**
 * Keeps Node's compiled code for the next start of this program and of servers that run on Node: it saves a fifth of
 * their time to a first response. The cache is private to the user: in a shared folder others could plant code.
 */
export function keepCompiled(): void {
  const [nodeModule, os, path] = [
    process.getBuiltinModule('node:module'),
    process.getBuiltinModule('node:os'),
    process.getBuiltinModule('node:path'),
  ];
  // An empty or relative path counts as unset (https://specifications.freedesktop.org/basedir).
  const [given, caches, local] = ['NODE_COMPILE_CACHE', 'XDG_CACHE_HOME', 'LOCALAPPDATA'].map((name) => {
    const folder = process.env[name] ?? '';
    return path.isAbsolute(folder) ? folder : undefined;
  });
  const ofSystem = process.platform === 'win32' ? local : caches;
  const folder = given ?? path.join(ofSystem ?? path.join(os.homedir(), '.cache'), 'assay', 'compiled');
  nodeModule.enableCompileCache(folder);
  process.env['NODE_COMPILE_CACHE'] = folder;
}
