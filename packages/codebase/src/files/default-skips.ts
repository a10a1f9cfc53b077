/**
 * Entries that are skipped even if no ignore file says so; `!name` in a `.mcpignore` includes them. Output directories
 * such as `dist` or `build` are not among them: a repository lists them in its `.gitignore`, and an installed package
 * consists of nothing else.
 */
export function isSkippedByDefault(name: string, isDirectory: boolean): boolean {
  if (isDirectory) return DIRECTORIES.has(name);
  return FILES.has(name.toLowerCase()) || PATTERNS.test(name);
}

/** A directory with one of these files is a cache or a virtual environment (https://bford.info/cachedir/). */
export const CACHE_MARKERS: ReadonlySet<string> = new Set(['CACHEDIR.TAG', 'pyvenv.cfg']);

/** Never indexed, whatever an ignore file says. */
export const REPOSITORY_DATA: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', 'CVS']);

/** Judged by name, so that the file need not be read. */
export function isBinaryName(name: string): boolean {
  return BINARY.test(name);
}

const DIRECTORIES: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  '__pycache__',
  '.venv',
  '.tox',
  '.nox',
  '.eggs',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.ipynb_checkpoints',
  '.gradle',
  '.terraform',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.turbo',
  '.cache',
  '.parcel-cache',
  '.nyc_output',
  '.yarn',
  '.pnpm-store',
  '.bundle',
  '.dart_tool',
  '.idea',
  '.vs',
]);

const FILES: ReadonlySet<string> = new Set([
  // A list of paths for tools, as the files that PATTERNS has.
  '.gitattributes',
  // Lock files: long, generated, and full of names that are not the repository's.
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'deno.lock',
  'cargo.lock',
  'poetry.lock',
  'pdm.lock',
  'uv.lock',
  'pipfile.lock',
  'gemfile.lock',
  'composer.lock',
  'podfile.lock',
  'packages.lock.json',
  'go.sum',
  'flake.lock',
  'mix.lock',
  'pubspec.lock',
  'gradle.lockfile',
]);

/** Minified files, source maps, and lists of paths for tools, such as `.gitignore` and `.dockerignore`. */
const PATTERNS = /[.-]min[.](?:js|mjs|cjs|css)$|[.]map$|^[.][a-z-]*ignore$/i;

const BINARY =
  /[.](?:png|jpe?g|gif|webp|avif|ico|icns|bmp|tiff?|psd|heic|mp[34]|m4[av]|mov|avi|mkv|webm|wav|flac|ogg|opus|woff2?|ttf|otf|eot|pdf|docx?|xlsx?|pptx?|odt|zip|gz|tgz|bz2|xz|zst|lz4|7z|rar|tar|jar|war|ear|whl|egg|deb|rpm|dmg|iso|exe|dll|so|dylib|a|o|obj|lib|pdb|class|pyc|pyo|pyd|wasm|node|bin|dat|db|sqlite3?|parquet|feather|arrow|npy|npz|onnx|pt|safetensors|gguf|h5|pkl)$/i;
