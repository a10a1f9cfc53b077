/** One signal of OpenTelemetry. */
export type Signal = 'traces' | 'metrics' | 'logs';

/** Where a signal is sent, and how. */
export interface SignalSettings {
  readonly url: URL;
  /** Alternating names and values. The values are secret. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** How long items are collected. For metrics: the interval of exports. */
  readonly delayMs: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
}

export interface OtlpSettings {
  readonly signals: Readonly<Partial<Record<Signal, SignalSettings>>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  /** What is wrong with the variables; each is a sentence without secrets. */
  readonly problems: readonly string[];
}

/** Which traces are recorded. */
export interface Sampler {
  /** Whether a client's own decision counts, if it made one. */
  readonly followsParent: boolean;
  /** The share of other traces, from 0 to 1. */
  readonly share: number;
}

type Env = Readonly<Record<string, string | undefined>>;

const SIGNALS: readonly Signal[] = ['traces', 'metrics', 'logs'];
const DEFAULT_ORIGIN = 'http://localhost:4318';
const MAX_MS = 600_000;
const MAX_QUEUE = 65_536;
const MAX_HEADERS = 32;
const MAX_ATTRIBUTES = 64;
const MAX_VALUE_LENGTH = 4_096;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
/** Headers that the exporter sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-type', 'content-length', 'content-encoding', 'transfer-encoding'],
]);

/**
 * Reads the variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables).
 * A variable that is not valid is reported and counts as unset. Undefined if nothing is to be exported and nothing is
 * wrong.
 */
export function readOtlpSettings(env: Env, version: string): OtlpSettings | undefined {
  const reader = new Reader(env);
  if (reader.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const signals: Partial<Record<Signal, SignalSettings>> = {};
  for (const signal of SIGNALS) {
    const settings = readSignal(reader, signal);
    if (settings !== undefined) signals[signal] = settings;
  }
  if (Object.keys(signals).length === 0 && reader.problems.length === 0) return undefined;
  const resource: Readonly<Record<string, string>> = {
    'service.version': version,
    ...Object.fromEntries(reader.pairs('OTEL_RESOURCE_ATTRIBUTES', MAX_ATTRIBUTES)),
  };
  const service = reader.text('OTEL_SERVICE_NAME') ?? resource['service.name'] ?? 'assay';
  return {
    signals,
    resource: { ...resource, 'service.name': service },
    sampler: readSampler(reader),
    problems: reader.problems,
  };
}

function readSignal(reader: Reader, signal: Signal): SignalSettings | undefined {
  const SIGNAL = signal.toUpperCase();
  const exporter = reader.choice(`OTEL_${SIGNAL}_EXPORTER`, ['otlp', 'none']);
  if (exporter === 'none') return undefined;
  const common = reader.url('OTEL_EXPORTER_OTLP_ENDPOINT');
  const own = reader.url(`OTEL_EXPORTER_OTLP_${SIGNAL}_ENDPOINT`);
  const base = common ?? (exporter === 'otlp' ? new URL(DEFAULT_ORIGIN) : undefined);
  const url = own ?? (base && withPath(base, `/v1/${signal}`));
  if (url === undefined) return undefined;
  if (!speaksJson(reader, SIGNAL)) return undefined;
  const of = (name: string): string =>
    reader.text(`OTEL_EXPORTER_OTLP_${SIGNAL}_${name}`) === undefined
      ? `OTEL_EXPORTER_OTLP_${name}`
      : `OTEL_EXPORTER_OTLP_${SIGNAL}_${name}`;
  const batch = signal === 'logs' ? 'OTEL_BLRP' : 'OTEL_BSP';
  const maxQueue = reader.whole(`${batch}_MAX_QUEUE_SIZE`, 2_048, MAX_QUEUE);
  return {
    url,
    headers: reader.headers(of('HEADERS')),
    timeoutMs: reader.whole(of('TIMEOUT'), 10_000, MAX_MS),
    isCompressed: reader.choice(of('COMPRESSION'), ['gzip', 'none']) === 'gzip',
    delayMs:
      signal === 'metrics'
        ? reader.whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 86_400_000)
        : reader.whole(`${batch}_SCHEDULE_DELAY`, signal === 'logs' ? 1_000 : 5_000, MAX_MS),
    maxQueue,
    maxBatch: Math.min(maxQueue, reader.whole(`${batch}_MAX_EXPORT_BATCH_SIZE`, 512, MAX_QUEUE)),
  };
}

/** Other protocols are not spoken; exporting in the wrong one would only fail later. */
function speaksJson(reader: Reader, SIGNAL: string): boolean {
  const own = `OTEL_EXPORTER_OTLP_${SIGNAL}_PROTOCOL`;
  const name = reader.text(own) === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : own;
  const protocol = reader.text(name);
  if (protocol === undefined || protocol === 'http/json') return true;
  reader.problems.push(
    `${name}=${JSON.stringify(protocol.slice(0, 40))}: Assay sends OTLP as http/json only, so ${SIGNAL.toLowerCase()} are not exported. Set ${own}=http/json and the endpoint of a receiver for OTLP over HTTP (port 4318).`,
  );
  return false;
}

function withPath(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

function readSampler(reader: Reader): Sampler {
  const names = SAMPLERS.flatMap((name) => [name, `parentbased_${name}`]);
  const name = reader.choice('OTEL_TRACES_SAMPLER', names) ?? 'parentbased_always_on';
  const followsParent = name.startsWith('parentbased_');
  if (name.endsWith('always_on')) return { followsParent, share: 1 };
  if (name.endsWith('always_off')) return { followsParent, share: 0 };
  return { followsParent, share: reader.share('OTEL_TRACES_SAMPLER_ARG') };
}

class Reader {
  readonly #env: Env;
  readonly problems: string[] = [];

  constructor(env: Env) {
    this.#env = env;
  }

  /** Empty counts as unset. */
  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  choice(name: string, of: readonly string[]): string | undefined {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined || of.includes(value)) return value;
    this.#refuse(name, `it must be one of ${of.join(', ')}`);
    return undefined;
  }

  whole(name: string, defaultValue: number, max: number): number {
    const value = this.text(name);
    if (value === undefined) return defaultValue;
    if (/^\d{1,9}$/.test(value) && Number(value) >= 1 && Number(value) <= max) return Number(value);
    this.#refuse(name, `it must be a whole number from 1 to ${max}`);
    return defaultValue;
  }

  share(name: string): number {
    const value = this.text(name);
    if (value === undefined) return 1;
    if (/^(?:0?\.\d{1,12}|0|1|[01]\.\d{1,12})$/.test(value) && Number(value) <= 1) return Number(value);
    this.#refuse(name, 'it must be a number from 0 to 1');
    return 1;
  }

  url(name: string): URL | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isUsable =
      url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    if (isUsable && url.hash === '') return url;
    this.#refuse(
      name,
      'it must be an http or https URL without a user, a password and a fragment; put credentials into OTEL_EXPORTER_OTLP_HEADERS',
    );
    return undefined;
  }

  headers(name: string): SignalSettings['headers'] {
    return this.pairs(name, MAX_HEADERS).filter(([header, value]) => {
      const isValid =
        HEADER_NAME.test(header) && HEADER_VALUE.test(value) && !OWN_HEADERS.has(header.toLowerCase());
      if (!isValid) this.#refuse(name, `the header ${JSON.stringify(header.slice(0, 40))} cannot be sent`);
      return isValid;
    });
  }

  /** `a=b,c=d` with percent-encoded values. */
  pairs(name: string, max: number): readonly (readonly [string, string])[] {
    const parts = (this.text(name) ?? '').split(',').filter((part) => part.trim() !== '');
    if (parts.length > max) this.#refuse(name, `it has more than ${max} entries; the others are left out`);
    return parts.slice(0, max).flatMap((part) => {
      const at = part.indexOf('=');
      const value = decode(part.slice(at + 1).trim());
      if (at > 0 && value !== undefined && value.length <= MAX_VALUE_LENGTH)
        return [[part.slice(0, at).trim(), value] as const];
      this.#refuse(
        name,
        'it must be a list such as key=value,other=value, with % and , in values as %25 and %2C',
      );
      return [];
    });
  }

  #refuse(name: string, reason: string): void {
    const problem = `${name} is ignored: ${reason}.`;
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
