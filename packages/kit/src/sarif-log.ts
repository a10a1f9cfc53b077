import { toPrintable } from './printable.ts';

/** A line of a source file. */
export interface SourceLine {
  /** Relative to the repository, with slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

export interface SarifResult {
  readonly rule: string;
  readonly level: 'error' | 'warning';
  readonly text: string;
  /** The places that have to change, the main one first; code scanning services require one. */
  readonly places: readonly [SarifPlace, ...SarifPlace[]];
  /** Stays the same from run to run. */
  readonly fingerprint: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Why the result is accepted. */
  readonly accepted?: string | undefined;
}

export interface SarifPlace extends SourceLine {
  readonly tool: string;
}

interface SarifRule {
  readonly id: string;
  /** What a result of it says. */
  readonly text: string;
  /** What to do about a result. */
  readonly help: string;
}

interface SarifLog {
  readonly version: string;
  readonly rules: readonly SarifRule[];
  readonly results: readonly SarifResult[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A log in SARIF 2.1.0 (OASIS), which code scanning services read. */
export function formatSarifLog({ version, rules, results, properties }: SarifLog): string {
  const driver = {
    name: 'Assay',
    version,
    rules: rules.map(({ id, text, help }) => ({
      ...{ id, shortDescription: { text }, fullDescription: { text }, help: { text: help } },
    })),
  };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      { tool: { driver }, results: results.map(toResult), ...(properties !== undefined && { properties }) },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function toResult(result: SarifResult): object {
  const { rule, level, text, places, fingerprint, properties, accepted } = result;
  const [main, ...more] = places;
  return {
    ruleId: rule,
    level,
    message: { text: toMessageText(text) },
    locations: [toLocation(main)],
    ...(more.length > 0 && {
      relatedLocations: more.map((place, at) => ({
        id: at + 1,
        ...toLocation(place),
        message: { text: toMessageText(place.tool) },
      })),
    }),
    partialFingerprints: { 'cause/v1': fingerprint },
    ...(properties !== undefined && { properties }),
    ...(accepted !== undefined && { suppressions: [{ kind: 'external', justification: accepted }] }),
  };
}

/** In messages, viewers make links of `[text](address)`, and servers choose the names of their tools. */
function toMessageText(text: string): string {
  return toPrintable(text).replaceAll(/[\\[\]]/g, '\\$&');
}

function toLocation({ file, line, tool }: SarifPlace): object {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return {
    physicalLocation: { artifactLocation: { uri }, region: { startLine: line } },
    logicalLocations: [{ name: tool, kind: 'function' }],
  };
}
