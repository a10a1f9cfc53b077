import { err, ok, type Result } from '@assay-mcp/kit/result';

/** Plain data, so that it can be passed to a thread. Holds the key: never log it whole. */
export interface EmbeddingSettings {
  readonly kind: 'ollama' | 'openai';
  /** The endpoint that requests are sent to, such as `http://127.0.0.1:11434/api/embed`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Maximum number of texts in one request. */
  readonly batch: number;
  readonly timeoutMs: number;
  /** Time limit for the one request of a search. */
  readonly queryTimeoutMs: number;
  readonly prefixes: { readonly document: string; readonly query: string };
  /** A PostgreSQL database with pgvector. Undefined: vectors are stored in the index itself. */
  readonly vectorsUrl: string | undefined;
  /** URL of the HTTP proxy that all connections go through. */
  readonly proxy?: string | undefined;
}

export interface SettingFault {
  readonly setting: string;
  /** Follows the name of the setting and ends with a full stop. */
  readonly problem: string;
  /** What to do: a sentence. */
  readonly remedy: string;
}

const NAME = 'ASSAY_CODEBASE_EMBEDDINGS_';
const VECTORS_URL = 'ASSAY_CODEBASE_VECTORS_URL';

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined if no embedding service is configured: searches then use only words. */
export function readEmbeddingSettings(
  environment: Environment,
): Result<EmbeddingSettings | undefined, SettingFault> {
  try {
    return ok(settingsIn(environment));
  } catch (error) {
    if (error instanceof Misset) return err(error.fault);
    throw error;
  }
}

class Misset extends Error {
  readonly fault: SettingFault;

  constructor(setting: string, problem: string, remedy: string) {
    super(problem);
    this.fault = { setting, problem, remedy };
  }
}

function settingsIn(environment: Environment): EmbeddingSettings | undefined {
  const read = (name: string): string | undefined => ignoreEmpty(environment[NAME + name]);
  const address = read('URL');
  if (address === undefined) {
    refuseStray(environment);
    return undefined;
  }
  const url = endpoint(address);
  const kind = kindOf(url, read('KIND'));
  const model = read('MODEL') ?? (kind === 'ollama' ? 'nomic-embed-text' : undefined);
  if (model === undefined)
    throw new Misset(
      `${NAME}MODEL`,
      'is not set.',
      'Name a model of the service, such as text-embedding-3-small.',
    );
  const isNomic = /(?:^|\/)nomic-embed-text/i.test(model);
  return {
    kind,
    url: withPath(url, kind),
    model,
    key: keyOf(read('KEY')),
    batch: integer('BATCH', read('BATCH'), { min: 1, max: 512, otherwise: 32 }),
    timeoutMs: integer('TIMEOUT_MS', read('TIMEOUT_MS'), { min: 100, max: 600_000, otherwise: 60_000 }),
    queryTimeoutMs: integer('QUERY_TIMEOUT_MS', read('QUERY_TIMEOUT_MS'), {
      min: 50,
      max: 60_000,
      otherwise: 2_000,
    }),
    prefixes: {
      // An empty value turns a prefix off.
      document: environment[`${NAME}DOCUMENT_PREFIX`] ?? (isNomic ? 'search_document: ' : ''),
      query: environment[`${NAME}QUERY_PREFIX`] ?? (isNomic ? 'search_query: ' : ''),
    },
    vectorsUrl: vectorsUrlOf(ignoreEmpty(environment[VECTORS_URL])),
  };
}

/** An empty variable counts as unset. */
function ignoreEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** A setting without effect is a mistake that would otherwise only show as worse results. */
function refuseStray(environment: Environment): void {
  const stray = Object.keys(environment).find(
    (name) => (name.startsWith(NAME) || name === VECTORS_URL) && environment[name],
  );
  if (stray !== undefined)
    throw new Misset(stray, `has no effect without ${NAME}URL.`, 'Set that one too, or unset this one.');
}

function endpoint(address: string): URL {
  const url = URL.parse(address);
  const setting = `${NAME}URL`;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Misset(
      setting,
      'is not an http or https URL.',
      'Set it to an address such as http://127.0.0.1:11434/api/embed.',
    );
  if (url.username !== '' || url.password !== '')
    throw new Misset(setting, 'contains a user or password.', `Put the key into ${NAME}KEY.`);
  return url;
}

function kindOf(url: URL, kind: string | undefined): 'ollama' | 'openai' {
  if (kind === 'ollama' || kind === 'openai') return kind;
  if (kind !== undefined)
    throw new Misset(
      `${NAME}KIND`,
      'is neither "ollama" nor "openai".',
      'Set it to one of them, or unset it.',
    );
  if (/\/(?:v1|embeddings)(?:\/|$)/.test(url.pathname)) return 'openai';
  if (/\/api(?:\/|$)/.test(url.pathname) || url.port === '11434') return 'ollama';
  // Only the address of a server: most of them, other than Ollama, have OpenAI's API.
  if (/^\/*$/.test(url.pathname)) return 'openai';
  throw new Misset(
    `${NAME}KIND`,
    `is not set, and the path of ${NAME}URL does not show it.`,
    'Set it to "ollama" (/api/embed) or "openai" (/v1/embeddings).',
  );
}

/** Accepts the address of the server, of its API or of the endpoint. */
function withPath(url: URL, kind: 'ollama' | 'openai'): string {
  const [api, endpoint] = kind === 'ollama' ? ['/api', '/embed'] : ['/v1', '/embeddings'];
  const path = url.pathname.replace(/\/+$/, '');
  const whole = new URL(url);
  whole.hash = '';
  if (path.endsWith(endpoint)) whole.pathname = path;
  else whole.pathname = path.endsWith(api) ? path + endpoint : path + api + endpoint;
  return whole.href;
}

/** The value is never repeated in a message. */
function keyOf(key: string | undefined): string | undefined {
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new Misset(
      `${NAME}KEY`,
      'contains spaces or characters that an HTTP header cannot carry.',
      'Set it to the key only.',
    );
  return key;
}

function vectorsUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const protocol = URL.parse(text)?.protocol;
  if (protocol !== 'postgres:' && protocol !== 'postgresql:')
    throw new Misset(
      VECTORS_URL,
      'is not a postgres:// URL.',
      'Correct it, or unset it to keep vectors in the index.',
    );
  return text;
}

function integer(
  name: string,
  text: string | undefined,
  { min, max, otherwise }: { min: number; max: number; otherwise: number },
): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max))
    throw new Misset(
      NAME + name,
      `is ${JSON.stringify(text.slice(0, 40))}.`,
      `Set it to a whole number from ${min} to ${max}.`,
    );
  return value;
}
