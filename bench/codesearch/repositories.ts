export interface Package {
  /** `git`: a repository on GitHub; its name has the owner, its version is a commit. */
  readonly from: 'npm' | 'debian' | 'git';
  readonly name: string;
  readonly version: string;
  /** Folders inside the unpacked package; npm's begin below `package/`. */
  readonly folders: readonly string[];
  readonly extension: string;
  /** Paths to leave out, such as builds of the same source. */
  readonly without?: RegExp;
}

export interface RepositorySet {
  readonly name: string;
  /** Weights were chosen with the sets for tuning only. */
  readonly use: 'tuning' | 'held out';
  readonly packages: readonly Package[];
}

const npm = (name: string, version: string, folders: readonly string[]): Package => ({
  from: 'npm',
  name,
  version,
  folders,
  extension: 'js',
});
const python = (name: string, version: string, folder: string): Package => ({
  from: 'debian',
  name,
  version,
  folders: [folder],
  extension: 'py',
});
const go = (name: string, version: string, folder: string): Package => ({
  from: 'debian',
  name,
  version,
  folders: [folder],
  extension: 'go',
});

export const SETS: readonly RepositorySet[] = [
  {
    name: 'js-tuning',
    use: 'tuning',
    packages: [
      npm('eslint', '10.15.0', ['lib']),
      { ...npm('typeorm', '1.1.1', ['.']), without: /^(?:browser|esm|cjs)\// },
      { ...npm('date-fns', '4.4.0', ['.']), without: /^(?:locale|fp|cdn|docs)[/.]/ },
      npm('luxon', '3.7.2', ['src']),
      npm('svelte', '5.57.3', ['src']),
      npm('three', '0.187.0', ['src', 'examples/jsm']),
    ],
  },
  {
    name: 'python-tuning',
    use: 'tuning',
    packages: [
      python('libpython3.11-stdlib', '3.11.2-6+deb12u8', 'usr/lib/python3.11'),
      python('python3-django', '3:3.2.25-0+deb12u3', 'usr/lib/python3/dist-packages'),
      python('python3-sqlalchemy', '1.4.46+ds1-1', 'usr/lib/python3/dist-packages'),
    ],
  },
  {
    name: 'js-held-out',
    use: 'held out',
    packages: [
      npm('mongoose', '9.12.1', ['lib']),
      { ...npm('ol', '10.11.0', ['.']), without: /^(?:dist|build)\// },
      npm('webpack', '5.112.2', ['lib']),
      npm('mathjs', '15.2.0', ['lib/esm']),
      npm('yjs', '13.6.33', ['src']),
      { ...npm('rxjs', '7.8.2', ['src']), extension: 'ts' },
    ],
  },
  {
    name: 'python-held-out',
    use: 'held out',
    packages: [
      python('python3-networkx', '2.8.8-1', 'usr/lib/python3/dist-packages'),
      python('python3-sympy', '1.11.1-1', 'usr/lib/python3/dist-packages'),
      python('python3-scipy', '1.10.1-2', 'usr/lib/python3/dist-packages'),
      python('python3-requests', '2.28.1+dfsg-1', 'usr/lib/python3/dist-packages'),
    ],
  },
  {
    name: 'go-held-out',
    use: 'held out',
    packages: [
      { ...go('golang-1.19-src', '1.19.8-2', 'usr/share/go-1.19/src'), without: /^(?:cmd|runtime|vendor)\// },
      go('golang-github-gin-gonic-gin-dev', '1.8.1-1', 'usr/share/gocode/src/github.com'),
      go('golang-github-spf13-cobra-dev', '1.6.1-1', 'usr/share/gocode/src/github.com'),
    ],
  },
];
