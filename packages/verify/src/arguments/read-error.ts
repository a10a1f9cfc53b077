// What the answer to a failed call says about its arguments. The text is the server's: it is cut, matched by patterns
// that take linear time, and only leads to other arguments in the sandbox.
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { PAGE_URL } from '@assay-mcp/sandbox/page-url';
import { splitList } from './described-values.ts';
import { Draft, type FailedCall } from './adjustment-draft.ts';
import type { Adjustments } from './generate-value.ts';
import type { ArgumentContext } from './heuristics.ts';
import { SAMPLES } from './samples.ts';
import { splitName } from './tool-words.ts';

const MAX_TEXT = 3_000;
const MAX_ISSUES = 20;
const MAX_LISTED = 30;

/** Adjustments for another call. Undefined if the text says nothing new. */
export function readError(failed: FailedCall, context: ArgumentContext): Adjustments | undefined {
  const draft = new Draft(failed, context);
  const text = failed.text.slice(0, MAX_TEXT);
  const issues = issuesIn(text);
  for (const issue of issues) readIssue(issue, draft);
  if (issues.length === 0 || !draft.hasChanged)
    for (const rule of RULES) if (!draft.hasChanged) rule(text, draft);
  return draft.hasChanged ? draft.adjustments : undefined;
}

/** Issues as validators report them: as JSON, or a line each. */
function issuesIn(text: string): readonly JsonObject[] {
  const start = text.indexOf('[');
  const end = text.lastIndexOf(']');
  if (start >= 0 && end > start)
    try {
      const list: unknown = JSON.parse(text.slice(start, end + 1));
      const issues = Array.isArray(list)
        ? list.filter((one): one is JsonObject => isJsonObject(one) && Array.isArray(one['path']))
        : [];
      if (issues.length > 0) return issues.slice(0, MAX_ISSUES);
    } catch {
      // Not JSON.
    }
  return [
    ...text.matchAll(
      /expected ([\w"'|, -]{1,80}?),? (?:but )?received (\w+)\s{1,4}(?:→|->)?\s{0,3}at ["'`]?([\w.[\]]{1,80})/gi,
    ),
  ]
    .slice(0, MAX_ISSUES)
    .map(([, expected = '', received = '', path = '']) => ({
      expected,
      received,
      path: path.split('.'),
      message: received === 'undefined' ? 'Required' : '',
    }));
}

function readIssue(issue: JsonObject, draft: Draft): void {
  const steps = Array.isArray(issue['path']) ? issue['path'] : [];
  const path = steps.filter((step) => typeof step === 'string').join('.');
  const message = typeof issue['message'] === 'string' ? issue['message'] : '';
  const expected = typeof issue['expected'] === 'string' ? issue['expected'] : '';
  const values = [issue['options'], issue['values']].find(Array.isArray);
  if (Array.isArray(issue['keys']))
    for (const key of issue['keys'].filter((one) => typeof one === 'string'))
      draft.omit(path === '' ? key : `${path}.${key}`);
  else if (values !== undefined && values.length > 0) draft.set(path, values[0]);
  else if (issue['received'] === 'undefined' || /^required$|received undefined/i.test(message)) {
    const value = valueOfType(expected);
    if (expected === 'string' || value === undefined) draft.include(path);
    else draft.set(path, value);
  } else if (typeof issue['minimum'] === 'number' && issue['type'] !== 'array') {
    const current = draft.leaves.get(path);
    draft.set(
      path,
      typeof current === 'string'
        ? current.padEnd(Math.min(issue['minimum'], 10_000), 'a')
        : issue['minimum'] + (issue['inclusive'] === false ? 1 : 0),
    );
  } else if (typeof issue['maximum'] === 'number') draft.set(path, issue['maximum']);
  else {
    const value = valueOfType(expected);
    if (value === undefined) draft.pass(path);
    else draft.set(path, value);
  }
}

const BY_TYPE: Readonly<Record<string, unknown>> = {
  number: 1,
  integer: 1,
  int: 1,
  float: 1,
  'positive number': 1,
  'positive integer': 1,
  'non-negative integer': 1,
  string: 'a',
  'non-empty string': 'a',
  boolean: true,
  bool: true,
  array: ['a'],
  list: ['a'],
  'non-empty array': ['a'],
  object: {},
  date: SAMPLES.date,
  null: null,
};

function valueOfType(type: string): unknown {
  const own = type.trim().toLowerCase();
  if (Object.hasOwn(BY_TYPE, own)) return BY_TYPE[own];
  return /^["']/.test(type) ? /^["']([^"']{1,100})/.exec(type)?.[1] : undefined;
}

type Rule = (text: string, draft: Draft) => void;

/** `exactly one of "a" or "b" at page`: of the members of an argument. */
const memberOf: Rule = (text, draft) => {
  const [, list = '', at = ''] =
    /\bone of ([^\n.]{1,120}?)\.?\s{0,3}(?:→|->)?\s{0,3}\bat ["'`]?([A-Za-z_][\w.]{0,80})/i.exec(text) ?? [];
  const top = at.split('.')[0] ?? '';
  const paths = splitList(list)
    .filter((name) => /^\w+$/.test(name))
    .map((name) => `${at}.${name}`);
  if (paths.length < 2 || !draft.names.includes(top)) return;
  const given = paths.filter((path) => draft.leaves.has(path));
  if (given.length === 0) draft.include(paths[0] ?? '');
  else for (const path of given.slice(1)) draft.omit(path);
};

const missing: Rule = (text, draft) => {
  const named = [
    ...text.matchAll(
      /(?:missing|required|provide|specify|requires)\b[^\n:'"`]{0,60}[:'"`]\s*([\w'"`, ]{1,200})/gi,
    ),
    ...text.matchAll(
      /((?:\b[A-Za-z_]\w{1,40}["'`]?(?:, ?| and | or | & )["'`]?){0,6}\b[A-Za-z_]\w{1,40})["'`]?\s(?:\w{1,40} )?(?:is|are|must be) (?:required|missing|mandatory|provided|specified)/gi,
    ),
    ...text.matchAll(
      /(?:missing|requires?|provide|specify) (?:an? |the |required )?(?:\w+ )?["'`]?([A-Za-z_]\w{1,40})["'`]?/gi,
    ),
    ...text.matchAll(
      /(?:missing|requires?|provide|specify) (?:an? |the |required )?["'`]?([A-Za-z_]\w{1,40})["'`]? (?:parameter|argument|field|property|option)/gi,
    ),
  ].flatMap(([, names = '']) => names.split(/[\s,'"`]+/));
  // `a.b is required`
  for (const [, path = ''] of text.matchAll(
    /["'`]?\b([A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,4})["'`]? is (?:required|missing)/gi,
  ))
    if (draft.names.includes(path.split('.')[0] ?? '') && !draft.leaves.has(path)) draft.include(path);
  for (const name of named.slice(0, MAX_LISTED)) {
    const own =
      draft.names.find((one) => one === name) ??
      draft.names.find((one) => splitName(one).join('') === splitName(name).join(''));
    if (own !== undefined && !draft.leaves.has(own)) draft.include(own);
  }
};

/** `either a or b`, `at least one of a, b`. */
const eitherOr: Rule = (text, draft) => {
  const choice =
    /\b(?:either|at least one(?: of)?|one of|any of|exactly one(?: of)?|no (?:updates?|fields?|changes?)|nothing to (?:update|change))\b([^\n]{0,200})/i.exec(
      text,
    )?.[0];
  if (choice === undefined) return;
  const named = draft.namedIn(choice).filter((name) => !draft.leaves.has(name));
  const optional = draft.names.filter((name) => !draft.leaves.has(name));
  const first = named[0] ?? optional[0];
  if (first !== undefined && draft.namedIn(choice).every((name) => !draft.leaves.has(name)))
    draft.include(first);
  else if (first !== undefined && /no (?:updates?|fields?|changes?)|nothing|at least one/i.test(choice))
    draft.include(first);
};

const exclusive: Rule = (text, draft) => {
  const both =
    /(?:cannot|can't|do not|don't|not|only one)\b[^\n]{0,40}\b(?:both|together|one of|combine)\b([^\n]{0,160})|mutually exclusive/i.exec(
      text,
    );
  if (both === null) return;
  const given = draft.namedIn(text).filter((name) => draft.leaves.has(name));
  const last = given.at(-1);
  if (given.length > 1 && last !== undefined) draft.omit(last);
};

const oneOf: Rule = (text, draft) => {
  const list =
    /(?:\bone of\b(?: the following)?\s{0,2}[:=([]?|(?<!\bnot )\b(?:valid|supported|available|allowed|known|possible|choose|options|did you mean)(?: [\w ]{1,30})?(?: are\b| is\b|\s{0,2}[:=([]))\s{0,3}:?\s{0,3}([^\n]{1,600}(?:\n\s{0,8}[-*•][^\n]{1,80}){0,20})/i.exec(
      text,
    );
  if (list === null) return;
  const before = text.slice(0, list.index);
  const path = draft.pathOfValueIn(before) ?? draft.namedIn(before)[0] ?? draft.subjectOf(text);
  if (path === undefined) return;
  const current = draft.leaves.get(path);
  const next = splitList(list[1] ?? '').find((value) => value !== current && !draft.names.includes(value));
  if (next !== undefined)
    draft.set(path, typeof current === 'number' && Number.isFinite(Number(next)) ? Number(next) : next);
};

const ofType: Rule = (text, draft) => {
  for (const [, name = '', type = ''] of text.matchAll(
    /["'`]?\b([A-Za-z_]\w{0,40})["'`]? (?:must|should|has to|needs to) be (?:an? |of type )?["'`]?((?:positive |non-negative |non-empty )?(?:number|integer|string|boolean|array|list|object))\b/gi,
  )) {
    const own =
      draft.names.find((one) => one === name) ??
      [...draft.leaves.keys()].find((path) => path.endsWith(`.${name}`));
    const value = valueOfType(type);
    if (own !== undefined && value !== undefined) draft.set(own, value);
  }
  if (/must be true|set ["'`]?\w*confirm\w*["'`]? to true|confirm\w*[=:]\s?true/i.test(text)) {
    const name = draft.names.find((one) => /confirm|force|acknowledge/i.test(one));
    if (name !== undefined) draft.set(name, true);
  }
};

/** `invalid action: x (must be list, add or remove)` */
const mustBeOneOf: Rule = (text, draft) => {
  const list =
    /\b(?:must|should|has to|needs to) be (?:either )?((?:["'`]?[\w-]{1,40}["'`]?, ?){0,20}["'`]?[\w-]{1,40}["'`]?,? or ["'`]?[\w-]{1,40}["'`]?)/i.exec(
      text,
    );
  if (list === null) return;
  const path = draft.subjectOf(text.slice(0, list.index));
  const next = splitList(list[1] ?? '').find((value) => !draft.names.includes(value));
  if (path !== undefined && next !== undefined && typeof draft.leaves.get(path) === 'string')
    draft.set(path, next);
};

const MORE: ReadonlySet<string> = new Set(['greater', 'larger', 'higher', 'more', 'later', 'after']);
const DAY_MS = 86_400_000;

/** `end must be greater than start`: of two arguments. */
const ordered: Rule = (text, draft) => {
  const [, one = '', comparison = '', other = ''] =
    /\b([A-Za-z_]\w{0,40})["'`]? (?:must|should|has to|needs to) be (?:strictly )?(greater|larger|higher|more|later|after|less|smaller|lower|earlier|before)\b(?: than)?(?: or equal to)?(?: the)? ["'`]?([A-Za-z_]\w{0,40})/i.exec(
      text,
    ) ?? [];
  const [high, low] = MORE.has(comparison.toLowerCase()) ? [one, other] : [other, one];
  const least = draft.leaves.get(low);
  if (!draft.leaves.has(high) || least === undefined) return;
  if (typeof least === 'number') draft.set(high, least + 1);
  const time = typeof least === 'string' ? Date.parse(least) : NaN;
  if (Number.isNaN(time) || typeof least !== 'string') return;
  draft.set(high, new Date(time + DAY_MS).toISOString().slice(0, least.length));
};

/** `set a to "b"`, `a must be "b"`. */
const exact: Rule = (text, draft) => {
  for (const [, name = '', value = ''] of text.matchAll(
    /["'`]?\b([A-Za-z_]\w{0,40})["'`]? (?:to|must be|should be) ["'`]([^"'`\n]{1,60})["'`]/gi,
  ))
    if (draft.names.includes(name)) draft.set(name, value);
};

/** `1 is lower than the last one (480)`: a complaint, not what is wanted. */
const tooLow: Rule = (text, draft) => {
  const [, given = '', least = ''] =
    /(-?\d{1,9}(?:\.\d{1,6})?)\D{0,20}\b(?:is|was) (?:too )?(?:low(?:er)?|less|small(?:er)?|below)\b\D{0,40}(-?\d{1,9}(?:\.\d{1,6})?)/i.exec(
      text,
    ) ?? [];
  const path = [...draft.leaves].find(([, value]) => value === Number(given))?.[0];
  if (given !== '' && path !== undefined) draft.set(path, Number(least) + 1);
};

const bounds: Rule = (text, draft) => {
  const range =
    /\b(?:between|range|from)\b\D{0,10}(-?\d{1,9}(?:\.\d{1,6})?)\D{1,6}(-?\d{1,9}(?:\.\d{1,6})?)/i.exec(text);
  const least =
    /(?:at least|>=|greater than or equal to|minimum(?: of| is)?|no less than)\s{0,2}(-?\d{1,9}(?:\.\d{1,6})?)/i.exec(
      text,
    );
  const above = /(?:greater than|more than|>)\s{0,2}(-?\d{1,9})/i.exec(text);
  const most =
    /(?:at most|<=|less than or equal to|maximum(?: of| is)?|no more than|exceed(?:s)?)\s{0,2}(-?\d{1,9}(?:\.\d{1,6})?)/i.exec(
      text,
    );
  const bound = range?.[1] ?? least?.[1] ?? (above === null ? undefined : Number(above[1]) + 1) ?? most?.[1];
  if (bound === undefined) return;
  const path =
    draft.namedIn(text).find((name) => draft.leaves.has(name)) ??
    [...draft.leaves].find(([, value]) => typeof value === 'number')?.[0];
  if (path === undefined) return;
  const current = draft.leaves.get(path);
  if (typeof current === 'number') draft.set(path, Number(bound));
  else if (typeof current === 'string' && least !== null)
    draft.set(path, current.padEnd(Math.min(Number(bound), 10_000), 'a'));
};

/** A file of another type, a folder instead of a file, or the reverse. */
const pathKind: Rule = (text, draft) => {
  const { paths } = draft;
  const repeated = paths.find((one) => text.includes(String(draft.leaves.get(one))));
  const path = repeated ?? paths[0] ?? draft.subjectOf(text);
  const { folder, files } = draft.context;
  if (path === undefined) return;
  const current = String(draft.leaves.get(path));
  const ending =
    /(?:must|should|only|expected|supported|required?s?|valid|not an?)\b[^\n]{0,60}?(\.[a-z]\w{0,11})\b/i.exec(
      text,
    )?.[1] ?? /(\.[a-z]\w{1,11})\b (?:files?|extension|format)\b/i.exec(text)?.[1];
  const isTyped =
    ending !== undefined && !current.endsWith(ending) && !/\.(?:js|ts|mjs|cjs)\b:?\d/.test(text);
  if (isTyped)
    draft.set(
      path,
      files.find((file) => file.endsWith(ending)) ??
        `${current === folder ? `${folder}/created` : current.replace(/\.\w+$/, '')}${ending}`,
    );
  else if (/ENOTDIR|not a (?:valid )?(?:directory|folder)|must be a (?:directory|folder)/i.test(text))
    draft.set(path, folder);
  else if (/EISDIR|is a directory|not a (?:regular )?file|must be a file/i.test(text))
    draft.set(path, files.find((file) => file.endsWith('.txt')) ?? files[0]);
  else if (/must be (?:an )?absolute|absolute path/i.test(text) && !current.startsWith('/'))
    draft.set(path, `${folder}/${current}`);
  else if (
    /must be relative|(?:absolute paths?|leading slash).{0,30}not allowed|path (?:is )?not allowed|outside|relative path/i.test(
      text,
    ) &&
    current.startsWith(`${folder}/`)
  )
    draft.set(path, current.slice(folder.length + 1));
  else if (
    /path (?:segments?|separators?|traversal)|(?:invalid|illegal)[\w ]{0,20} (?:parameter|path|names?|filename|characters?)\b/i.test(
      text,
    ) &&
    current.startsWith(`${folder}/`)
  )
    draft.set(path, current.split('/').at(-1));
  else if (/EEXIST|already exists/i.test(text)) draft.set(path, `${folder}/created-${current.length}`);
};

/** A text that the answer gives as an example. */
const example: Rule = (text, draft) => {
  const given = /\bexamples?(?: \w{1,20})?:\s{0,3}([^\s][^]{0,600})/i.exec(text)?.[1];
  const path = draft.subjectOf(text) ?? [...draft.leaves.keys()][0];
  if (given === undefined || path === undefined || typeof draft.leaves.get(path) !== 'string') return;
  const value = (given.split(/\n\s*\n/)[0] ?? '').replaceAll(/^["'`]|["'`]$/g, '').trim();
  if (value !== draft.leaves.get(path)) draft.set(path, value);
};

/** A form of text that the answer asks for. */
const form: Rule = (text, draft) => {
  const value = FORMS.find(([pattern]) => pattern.test(text))?.[1];
  const path = draft.subjectOf(text) ?? draft.namedIn(text)[0];
  if (value !== undefined && path !== undefined && draft.leaves.get(path) !== value) draft.set(path, value);
};

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/yyyy-mm-dd/i, SAMPLES.date],
  [/\biso[- ]?8601\b/i, SAMPLES.dateTime],
  [/\bhh:mm\b/i, SAMPLES.time],
  [/\b(?:in)?valid json\b|json\.parse|unexpected token .* json|not valid json/i, SAMPLES.json],
  [/\binvalid url\b|must be a (?:valid )?url/i, PAGE_URL],
  [/\bselect statement\b|\b(?:start|begin) with select\b|\bonly select\b/i, 'SELECT 1'],
  [/\bfive fields\b|\bcron (?:expression|schedule)\b/i, SAMPLES.cron],
  [/\binvalid uuid\b|must be a (?:valid )?uuid/i, SAMPLES.uuid],
  [/\bemail\b/i, SAMPLES.email],
  [/\bhex\b/i, SAMPLES.color],
  [/\binvalid regular expression\b/i, SAMPLES.regex],
  [/\bonly (?:contain )?digits\b|\binvalid digit\b/i, '10'],
  [/\bonly (?:contain )?(?:\w+ )?(?:letters|alphanumeric)\b/i, 'apple'],
];

/** A parameter that the answer names, in whatever language, and that was not given. */
const mentioned: Rule = (text, draft) => {
  const name = draft.namedIn(text).find((one) => one.length > 2 && !draft.leaves.has(one));
  // A text about a value that was given is about that.
  if (name !== undefined && draft.pathOfValueIn(text) === undefined) draft.include(name);
};

/** `cannot merge a contact with itself`, `a and b must be different`: two arguments have the same value. */
const different: Rule = (text, draft) => {
  if (
    !/\b(?:itself|must (?:be different|differ|not be (?:the same|equal|identical))|(?:cannot|can't|may not) be (?:the same|equal|identical)|(?:are|is) the same|identical|two different|distinct)\b/i.test(
      text,
    )
  )
    return;
  const leaves = [...draft.leaves].filter(([, value]) => typeof value !== 'boolean');
  const repeated = leaves.findLast(([, value], at) =>
    leaves.slice(0, at).some(([, other]) => other === value),
  );
  if (repeated !== undefined) draft.pass(repeated[0]);
};

/** Another value for the argument that the answer repeats or names. */
const another: Rule = (text, draft) => {
  const isAbout =
    /not found|no such|does not exist|doesn't exist|unknown|invalid|unsupported|cannot find|could not find|ENOENT|not exist|failed|denied|already exists|no .{1,40} (?:found|with|matching)|did not match|\b(?:must|expected|malformed|bad|wrong)\b|introuvable|inconnue?|nicht gefunden|unbekannt|existiert nicht|no (?:existe|encontrad)|não (?:existe|encontrad)|不存在|找不到|未找到|見つかりません/i.test(
      text,
    );
  const path = draft.subjectOf(text);
  if (isAbout && path !== undefined) draft.pass(path);
};

const RULES: readonly Rule[] = [
  memberOf,
  exclusive,
  missing,
  eitherOr,
  oneOf,
  ofType,
  exact,
  mustBeOneOf,
  ordered,
  tooLow,
  bounds,
  pathKind,
  example,
  form,
  mentioned,
  different,
  another,
];
