// Which tool a failed call asks for first. The text is the server's: it is cut, matched by patterns that take linear time,
// and only leads to other calls of its own tools in the sandbox.
import { kindOfTool, nounsOfTool, splitName, toSingular } from './tool-words.ts';

const MAX_TEXT = 3_000;
const MAX_TOOLS = 200;
const MAX_FOUND = 3;

/** Names of tools that the text asks to call before, likeliest first. Empty if it asks for none. */
export function findPrerequisites(text: string, failed: string, tools: readonly string[]): readonly string[] {
  const own = text.slice(0, MAX_TEXT);
  const others = tools.filter((name) => name !== failed).slice(0, MAX_TOOLS);
  const named = findNamed(own, others);
  return (named.length > 0 ? named : findByState(own, others)).slice(0, MAX_FOUND);
}

/** Words without which a text that names tools only suggests them, such as one that lists all there are. */
const ASKS =
  /\b(?:first|before|call|use|using|run|try|please|must|need|needs|via|with|not (?:yet )?\w{1,20}ed|no (?:active|current|open))\b|请|先|需要|使用|调用|まず|してください|먼저/i;

/** Tools whose whole names are in the text, or whose last words follow a request to call them: "Call init first". */
function findNamed(text: string, tools: readonly string[]): readonly string[] {
  if (!ASKS.test(text)) return [];
  const asked = [
    ...text.matchAll(/\b(?:call|use|run|invoke|execute|try)\s{1,3}(?:the\s)?["'`]?([A-Za-z][\w-]{1,60})/gi),
  ].map(([, word = '']) => splitName(word));
  const ranked = tools.flatMap((name) => {
    const at = wholeWordAt(text, name);
    if (at >= 0 && splitName(name).length > 1) return [{ name, at }];
    const own = `_${splitName(name).join('_')}`;
    const isAsked = asked.some((words) => own.endsWith(`_${words.join('_')}`) && (at >= 0 || hasVerb(words)));
    return isAsked ? [{ name, at: at < 0 ? text.length : at }] : [];
  });
  return ranked
    .filter(({ name }) => kindOfTool(name) !== 'removes')
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
}

function hasVerb(words: readonly string[]): boolean {
  return kindOfTool(words.join('_')) !== 'other' || words.some((word) => CONNECT_VERBS.includes(word));
}

function wholeWordAt(text: string, name: string): number {
  const at = text.indexOf(name);
  if (at < 0) return -1;
  const isPart = (character: string): boolean => /[\w-]/.test(character);
  return isPart(text.charAt(at - 1)) || isPart(text.charAt(at + name.length)) ? -1 : at;
}

/** Verbs of tools that establish a state, likeliest first. */
const SETUP_VERBS = [
  'init',
  'initialize',
  'initialise',
  'setup',
  'configure',
  'bootstrap',
  'create',
  'start',
  'open',
  'load',
  'set',
];
const CONNECT_VERBS = [
  'connect',
  'open',
  'login',
  'authenticate',
  'attach',
  'launch',
  'start',
  'init',
  'initialize',
];
const OPEN_VERBS = [
  'open',
  'start',
  'create',
  'init',
  'initialize',
  'set',
  'select',
  'switch',
  'activate',
  'use',
  'load',
  'import',
  'new',
  'begin',
  'launch',
  'connect',
  'add',
  'generate',
];

/** Errors about a missing state, and the verbs of tools that establish it. */
const STATES: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /\bnot (?:yet )?(?:been )?(?:initiali[sz]ed|set ?up|configured|bootstrapped)\b|\buninitiali[sz]ed\b/i,
    SETUP_VERBS,
  ],
  [/\binitiali[sz]e\b[^\n]{0,60}\b(?:first|before)\b/i, SETUP_VERBS],
  [/\b(?:not|never) (?:yet )?connected\b|\bno (?:active |open )?connections?\b/i, CONNECT_VERBS],
  [/\bnot (?:yet )?(?:logged|signed) in\b|\bnot authenticated\b/i, CONNECT_VERBS],
];

/** `No active project`, `no document is open`, `session not started`: the thing that is missing. */
const MISSING_THING: readonly RegExp[] = [
  /\bno (?:active |current |open |open(?:ed)? |running |loaded |selected |existing |valid |such )?([a-z]{3,30})(?: (?:is|are|has been|have been|was))?(?: (?:currently|yet))? (?:active|open|opened|loaded|selected|running|found|set|started|exists?|available|initiali[sz]ed|created|defined|in progress)\b/gi,
  /\bno (?:active|current|open|opened|running|loaded|selected|existing) ([a-z]{3,30})\b/gi,
  /\b([a-z]{3,30}) (?:is |has |was )?not (?:yet )?(?:been )?(?:active|open|opened|loaded|selected|running|started|set|created|found|initiali[sz]ed)\b/gi,
  /\b(?:create|open|start|load|select|begin|set) (?:an? |the )?(?:new |active )?([a-z]{3,30}) (?:first|before)\b/gi,
];

function findByState(text: string, tools: readonly string[]): readonly string[] {
  const verbs = STATES.find(([pattern]) => pattern.test(text))?.[1] ?? [];
  const nouns = MISSING_THING.flatMap((pattern) =>
    [...text.matchAll(pattern)].slice(0, MAX_FOUND).map(([, noun = '']) => toSingular(noun.toLowerCase())),
  );
  const ofNoun = tools.filter((name) => {
    const own = splitName(name);
    const isAbout = nounsOfTool(name).some((noun) => noun.split('_').some((word) => nouns.includes(word)));
    return isAbout && own.some((word) => OPEN_VERBS.includes(word));
  });
  const ofVerb = tools
    .map((name) => ({ name, rank: verbs.findIndex((verb) => splitName(name).includes(verb)) }))
    .filter(({ rank }) => rank >= 0)
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);
  return [...new Set([...ofNoun, ...ofVerb])].filter((name) => kindOfTool(name) !== 'removes');
}
