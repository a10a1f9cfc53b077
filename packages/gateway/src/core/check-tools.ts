import { formatCount } from '@assay-mcp/kit/counted';
import type { Finding } from './finding.ts';
import { computeSeverity, type ProsePolicy } from './hints/drift.ts';
import { HINTS, isCautious } from '@assay-mcp/kit/hint';
import type { ToolRecord } from './hints/tool-record.ts';
import type { ToolHintFacts, ServerFacts } from './check-servers.ts';

const ALL = 'all servers';

/** Reports tools that do not declare their behaviour. */
export function checkHints(servers: readonly ServerFacts[]): readonly Finding[] {
  const listing = servers.flatMap(({ name, condition }) =>
    condition.kind === 'up' && condition.tools.length > 0 ? [{ name, tools: condition.tools }] : [],
  );
  const notes = listing.flatMap(({ name, tools }) => hintNotes(name, tools));
  if (notes.length > 0 || listing.length === 0) return notes;
  return [{ check: 'hints', level: 'ok', about: ALL, message: 'Every tool declares what it does.' }];
}

function hintNotes(name: string, tools: readonly ToolHintFacts[]): readonly Finding[] {
  const silent = tools.filter(({ readOnly }) => readOnly === undefined);
  // destructiveHint has no meaning for read-only tools.
  const vague = tools.filter(({ readOnly, destructive }) => readOnly === false && destructive === undefined);
  const parts = [
    lacking(silent, tools.length, 'readOnlyHint'),
    lacking(vague, tools.length, 'destructiveHint'),
  ];
  const present = parts.filter((part) => part !== undefined);
  if (present.length === 0) return [];
  return [
    {
      check: 'hints',
      level: 'note',
      about: name,
      message: `${present.join('; ')}. Clients treat these tools as dangerous and ask before each call.`,
      remedy:
        'Ask the author to add annotations, or set the hints yourself with `assay hints`. `assay lint` lists the tools.',
    },
  ];
}

function lacking(tools: readonly ToolHintFacts[], all: number, hint: string): string | undefined {
  if (tools.length === 0) return undefined;
  const verb = tools.length === 1 ? 'declares' : 'declare';
  return `${tools.length} of ${all} ${all === 1 ? 'tool' : 'tools'} ${verb} no ${hint} (${some(tools.map(({ tool }) => tool))})`;
}

const MAX_NAMES = 5;

function some(names: readonly string[]): string {
  return names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES).join(', ')}, …` : names.join(', ');
}

/** Reports definitions that changed since they were accepted, as last seen by `serve`. */
export function checkDrift(records: readonly ToolRecord[], prose: ProsePolicy): readonly Finding[] {
  const drifted = records.flatMap(({ server, name, drift, overrides, volatility }) => {
    const severity = drift === undefined ? 'harmless' : computeSeverity(drift, prose);
    const isExpected = severity === 'review' && volatility?.isAccepted === true;
    if (drift === undefined || severity === 'harmless' || isExpected) return [];
    const given = HINTS.flatMap((hint) => {
      const override = overrides[hint];
      return override !== undefined && !isCautious(hint, override.value) && override.digest !== drift.digest
        ? [hint]
        : [];
    });
    return [
      { tool: `${server}.${name}`, severity, isSuspended: severity === 'dangerous' && given.length > 0 },
    ];
  });
  const dangerous = drifted.filter(({ severity }) => severity === 'dangerous');
  const suspended = drifted.filter(({ isSuspended }) => isSuspended).length;
  if (drifted.length === 0) return [];
  const overrides = suspended === 0 ? '' : `, and overrides of ${suspended} of them are suspended`;
  const names = some((dangerous.length > 0 ? dangerous : drifted).map(({ tool }) => tool));
  const kind = dangerous.length > 0 ? `, ${dangerous.length} in a dangerous way` : '';
  return [
    {
      check: 'hints',
      level: dangerous.length > 0 ? 'warning' : 'note',
      about: ALL,
      message: `${formatCount(drifted.length, 'definition')} changed since accepted${kind} (${names})${overrides}.`,
      remedy: '`assay review` shows what changed, and `assay review TOOL --accept` accepts it.',
    },
  ];
}

/** Reports shared servers that use client features which a process shared by several clients cannot offer. */
export function checkIsolation(servers: readonly ServerFacts[]): readonly Finding[] {
  const tried = servers.flatMap(({ name, isolation, condition }) =>
    isolation === 'shared' && condition.kind === 'up' && condition.offered !== undefined
      ? [{ name, ...condition.offered }]
      : [],
  );
  const notes = tried.flatMap(({ name, asked, moreTools }): readonly Finding[] => {
    const parts = [
      ...(asked.length === 0 ? [] : [`asks its client for ${asked.join(', ')}`]),
      ...(moreTools.length === 0
        ? []
        : [`lists ${some(moreTools)} only to clients that support roots, sampling and elicitation`]),
    ];
    if (parts.length === 0) return [];
    return [
      {
        check: 'isolation',
        level: 'note',
        about: name,
        message: `It ${parts.join(', and ')}. A process that several clients share is offered none of that.`,
        remedy:
          'Set "isolation": "session" in its config entry: each client then has its own process and answers its questions. `assay stdio`, which has only one client, does not need that.',
      },
    ];
  });
  if (notes.length > 0 || tried.length === 0) return notes;
  return [
    {
      check: 'isolation',
      level: 'ok',
      about: ALL,
      message: 'No server that clients share asks its client for anything at its start.',
    },
  ];
}
