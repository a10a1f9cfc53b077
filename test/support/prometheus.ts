import { send } from './http.ts';

/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Numbers as Go parses them: NaN in any case. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|[Nn]a[Nn]|[+-]Inf)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** All samples of a text; throws at the first line that a scraper would reject. */
export function samplesIn(text: string): readonly Sample[] {
  if (!text.endsWith('\n')) throw new Error('The last line has no end');
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^# (?:HELP|TYPE) [a-zA-Z_:][\w:]* .+$/.test(line))
    .map(sampleOf);
}

/** The value of the one sample with this name and these labels. Undefined if there is none. */
export function valueOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return samples.find(
    (one) => one.name === name && JSON.stringify(Object.entries(one.labels).sort()) === wanted,
  )?.value;
}

/** The value in `/metrics` of the Assay on this port; NaN if absent. */
export async function readGauge(
  { port }: { readonly port: number },
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { text } = await send(`http://127.0.0.1:${port}/metrics`, { method: 'GET' });
  return valueOf(samplesIn(text), name, labels) ?? NaN;
}

function sampleOf(line: string): Sample {
  const [, name = '', inner = '', value = ''] = LINE.exec(line) ?? [];
  if (name === '') throw new Error(`No sample: ${line}`);
  return { name, labels: labelsOf(inner, line), value: Number(value.replace('Inf', 'Infinity')) };
}

function labelsOf(inner: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inner.length) {
    const [, name, value] = LABEL.exec(inner) ?? [];
    if (name === undefined || value === undefined) throw new Error(`Bad labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}
