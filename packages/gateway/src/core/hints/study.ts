import { formatCount } from '@assay-mcp/kit/counted';
import { DEFAULTS, type Hint, HINTS } from '@assay-mcp/kit/hint';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { Claim } from './claim.ts';

/** What a study of published servers observed. It ships with Assay. */
export interface Study {
  /** Year and month, such as `2026-11`. */
  readonly name: string;
  readonly atMs: number;
  /** By the name of the npm package. */
  readonly packages: ReadonlyMap<string, readonly StudiedVersion[]>;
}

interface StudiedVersion {
  readonly version: string;
  /** Digest of the installed files, see `hashInstallation`. */
  readonly installation: string;
  /** By the server's own name of the tool. */
  readonly tools: ReadonlyMap<string, StudiedTool>;
}

interface StudiedTool {
  /** SHA-256 of the definition. */
  readonly digest: string;
  /** Number of successful calls. */
  readonly calls: number;
  /** Hints whose promise every call kept. */
  readonly consistent: readonly Hint[];
  /** Effects that hints rule out. */
  readonly contradicted: Readonly<Partial<Record<Hint, string>>>;
}

/** The npm package that a server is started from, as Assay itself found it; never what the server says. */
export interface StartedPackage {
  readonly name: string;
  /** Of the installed files. Undefined if they are not known, such as for `npx` without an exact version. */
  readonly installation?: { readonly version: string; readonly digest: string } | undefined;
}

export const MAX_STUDY_BYTES: number = 4 * 1024 * 1024;
const MAX_TEXT_LENGTH = 300;
const MONTH = /^\d{4}-\d{2}$/;

/** Undefined if the text is not a study that this Assay can read. */
export function readStudy(text: string): Study | undefined {
  let study: unknown;
  try {
    study = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(study)) return undefined;
  const { format, study: name, date, packages } = study;
  if (format !== 1 || typeof name !== 'string' || !MONTH.test(name)) return undefined;
  const atMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(atMs) || !isJsonObject(packages)) return undefined;
  return {
    name,
    atMs,
    packages: new Map(Object.entries(packages).map(([key, one]) => [key, readVersions(one)])),
  };
}

function readVersions(versions: unknown): readonly StudiedVersion[] {
  if (!Array.isArray(versions)) return [];
  return versions.filter(isJsonObject).flatMap(({ version, installation, tools }) => {
    if (typeof version !== 'string' || typeof installation !== 'string' || !isJsonObject(tools)) return [];
    const read = Object.entries(tools).flatMap(([name, tool]) =>
      isJsonObject(tool) ? readTool(name, tool) : [],
    );
    return [{ version, installation, tools: new Map(read) }];
  });
}

function readTool(
  name: string,
  { digest, calls, consistent, contradicted }: JsonObject,
): readonly (readonly [string, StudiedTool])[] {
  if (typeof digest !== 'string' || typeof calls !== 'number' || !Number.isSafeInteger(calls)) return [];
  const effects = isJsonObject(contradicted) ? contradicted : {};
  return [
    [
      name,
      {
        digest,
        calls,
        consistent: HINTS.filter((hint) => Array.isArray(consistent) && consistent.includes(hint)),
        contradicted: Object.fromEntries(
          HINTS.flatMap((hint) => {
            const effect = Object.hasOwn(effects, hint) ? effects[hint] : undefined;
            return typeof effect === 'string' ? [[hint, effect.slice(0, MAX_TEXT_LENGTH)]] : [];
          }),
        ),
      },
    ],
  ];
}

/**
 * What the study says about a tool with this definition. A contradiction holds for every version of the package that
 * defines the tool in the same way. A consistency holds only for the very files that were studied, and never lowers
 * caution.
 */
export function toStudyClaims(
  study: Study,
  { name: packageName, installation }: StartedPackage,
  tool: { readonly name: string; readonly digest: string },
): readonly Claim[] {
  const about = (study.packages.get(packageName) ?? []).flatMap((one) => {
    const seen = one.tools.get(tool.name);
    return seen?.digest === tool.digest ? [{ ...one, seen }] : [];
  });
  const same = about.find(
    (one) => one.version === installation?.version && one.installation === installation.digest,
  );
  const claim = {
    ...({ kind: 'observed', source: 'study', origin: `study of ${study.name}`, mayLower: false } as const),
    ...{ atMs: study.atMs, digest: tool.digest },
  };
  return HINTS.flatMap((hint): readonly Claim[] => {
    const contradicting = about.find(({ seen }) => seen.contradicted[hint] !== undefined);
    if (contradicting !== undefined) {
      const reason = `version ${contradicting.version} ${contradicting.seen.contradicted[hint] ?? ''}`;
      return [{ ...claim, hint, value: DEFAULTS[hint], reason }];
    }
    if (same?.seen.consistent.includes(hint) !== true) return [];
    return [
      {
        ...claim,
        hint,
        value: !DEFAULTS[hint],
        reason: describeConsistency(hint, same.version, same.seen.calls),
      },
    ];
  });
}

const SEEN: Readonly<Record<Hint, (calls: string, isOne: boolean) => string>> = {
  readOnlyHint: (calls) => `was seen to only read in ${calls}`,
  destructiveHint: (calls) => `was seen to destroy no data in ${calls}`,
  idempotentHint: (calls, isOne) => `had no further effect when ${calls} ${isOne ? 'was' : 'were'} repeated`,
  openWorldHint: (calls) => `contacted no other host in ${calls}`,
};

/** Such as `version 1.2.3 was seen to only read in 14 calls`. It never says that a tool is safe. */
function describeConsistency(hint: Hint, version: string, calls: number): string {
  return `version ${version} ${SEEN[hint](formatCount(calls, 'call'), calls === 1)}`;
}
