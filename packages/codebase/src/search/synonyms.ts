import { stemWord } from '@assay-mcp/kit/stem-word';

interface Entry {
  /** Each word of a phrase, in all of its forms. */
  readonly phrase: readonly ReadonlySet<string>[];
  /** What code often calls the same. */
  readonly synonyms: readonly string[];
}

/** Each costs time. */
const MAX_SYNONYMS = 40;

/**
 * The words that code often uses instead of those of a query, for its phrases and for its words that are not the code's
 * own, at most 40, those of longer phrases first.
 */
export function findSynonyms(query: string, isOwnWord: (word: string) => boolean): readonly string[] {
  const words = splitWords(query);
  const matches: Entry[] = [];
  for (const [at, word] of words.entries())
    for (const entry of BY_FIRST_WORD.get(word) ?? [])
      if (
        entry.phrase.every((forms, offset) => forms.has(words[at + offset] ?? '')) &&
        (entry.phrase.length > 1 || !isOwnWord(word))
      )
        matches.push(entry);
  matches.sort((one, other) => other.phrase.length - one.phrase.length);
  const known = new Set(words.map(stemWord));
  const found: string[] = [];
  for (const word of matches.flatMap(({ synonyms }) => synonyms)) {
    const stem = stemWord(word);
    if (known.has(stem) || found.length >= MAX_SYNONYMS) continue;
    known.add(stem);
    found.push(word);
  }
  return found;
}

function splitWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * Words and phrases of everyday language, and after the colon what code calls the same. Only what is usual in most kinds
 * of programs: a word of one kind of program misleads in all others.
 */
const TABLE = `
  delete, erase, wipe, get rid of, take away: remove delete drop destroy purge unlink clear prune
  remove, drop: delete remove drop destroy unlink clear strip
  clean, clean up, tidy, tidy up: cleanup clean prune sweep purge collect gc
  leftover, left behind, no longer needed, no longer used: cleanup stale orphan obsolete unused garbage prune
  create, make a new, set up: create init setup build construct make new
  build, put together, assemble: build make assemble construct compile compose
  start, begin, launch: start init launch boot open spawn begin
  startup, starting up, at the start: init boot setup startup bootstrap
  stop, quit, come to an end: stop close shutdown terminate kill abort exit
  shut down, turn off, switch off: shutdown close stop terminate disable exit
  turn on, switch on: enable activate start
  turn off, switch off, without: disable off skip no
  give up: abort cancel timeout fail exhaust bail
  cancel, call off, interrupt: cancel abort interrupt signal stop
  wait: wait sleep delay block timeout poll await
  pause, postpone, put off, later: pause defer delay suspend schedule queue later
  how long, too long, time is up, time limit: timeout deadline duration ttl expire
  slow, slow down, slower: throttle delay rate limit backoff slow
  fast, quick, quickly, speed up, faster: fast optimize cache quick
  limit, at most, how many, how much: limit max maximum cap quota
  too many, too much, exceeds: limit max exceed overflow quota throttle
  too big, too large, size limit: limit max size exceed truncate
  at least: min minimum
  again, again and again, over and over, repeatedly: retry repeat loop attempt poll
  retry, try again, tried again, another attempt: retry attempt backoff
  several attempts, attempts: attempt retry try
  print: print log write output echo
  log, logged: log logger trace record
  show, shown, displayed: show display render print view
  draw, drawn, paint: draw render paint redraw
  look like, appearance: style theme format render
  colour, color: color colour style theme highlight palette
  error, mistake, problem, trouble: error err exception fail failure fault
  goes wrong, went wrong, fails, failing, failed, failure: error fail failure exception panic
  crash: crash panic abort fatal recover exception
  broken, damaged, dead: broken invalid corrupt dead closed damage
  wrong, bad, not valid: invalid error bad malformed illegal
  check, make sure, ensure: check verify validate assert ensure
  look up, search for: find search lookup resolve locate
  found out, find out, figure out, discover, notice, recognize: detect discover find infer guess probe
  guess: guess detect infer sniff
  brute force, guessing, guess a password: attempt lock brute failed rate
  folder: directory dir path folder
  parent folder, home folder: parent home dir
  file ending, file extension, kind of file, type of file: extension ext suffix mime type
  path: path route filename
  web address, link: url uri href link
  internet address, network address: ip addr address ipv4 ipv6
  address: addr address url host ip
  site, website, web page: site host domain url origin
  server: server host backend upstream
  machine, computer, device: host node machine device peer remote
  other side, other end: peer remote client server
  page: page document view url response
  person, people, visitor: user account client
  log in, logged in, sign in: login signin authenticate auth session
  log out, logged out, sign out: logout signout session
  sign up, registration: register registration signup
  who you are, identity, prove who: identity authenticate auth credential
  password, passphrase: password passwd passphrase credential secret
  secret: secret private token key credential
  keep secret, kept secret, hide, hidden, conceal, mask: hide hidden mask redact filter private
  encrypted, encryption, scramble, unreadable: encrypt cipher crypto tls ssl seal
  decrypt, make readable: decrypt decipher unseal
  secure connection, encrypted connection, encrypted channel, safe connection: tls ssl https secure
  certificate: certificate cert x509 ca
  trust: trust verify allow
  do not trust, don't trust, not trusted: untrusted verify encrypt
  allow, permit, permitted, may do: allow permit authorize permission grant access
  forbid, forbidden, refuse, reject, not allowed: deny forbid reject refuse block disallow
  attack, attacker, malicious, harmful: sanitize escape csrf xss injection forgery
  safe, safely: safe secure escape sanitize atomic
  connection: connection conn socket
  message: message msg notification event packet
  mail, e-mail, email: mail email mailer smtp
  answer, reply: response reply answer result
  send, sent: send write emit dispatch publish transmit
  receive, arrive, incoming: receive recv read accept incoming handle
  call: call invoke execute
  job, task: job task work queue worker
  queue, waiting list, line up: queue pending backlog enqueue
  at the same time, at once, in parallel, simultaneously, side by side: concurrent concurrency parallel simultaneous
  one at a time, one after another, one after the other, in turn: serial sequential lock mutex queue
  only one, nobody else, two at once: lock mutex exclusive unique single
  share: share shared pool common
  compete, fight over, race: race contention lock
  remember: cache store save persist memo remember load
  forget, forgotten: expire evict forget invalidate clear
  keep, kept: keep retain preserve store hold cache
  copy, copied: copy clone duplicate
  backup, back up, older copies, older versions, earlier versions: backup snapshot version archive history
  same, identical, twice, more than once, already seen, already there: duplicate dupe unique same equal dedup seen
  only once, just once: once unique dedup
  compare, difference, different, differ: compare diff differ equal mismatch
  change, edit: change update modify edit mutate diff
  both changed, changed by somebody else, changed meanwhile, same time changes: conflict version merge
  merge, combine, join, put together: merge combine concat join union
  split, cut, divide, break up, broken up: split chunk partition slice segment tokenize
  piece, part: chunk part block segment fragment
  shorten, too long text, cut off: truncate shorten abbreviate ellipsis trim
  spaces, blanks, white space: whitespace space trim indent
  line, line break: line newline row
  old, older, outdated, out of date: old stale expire outdated previous legacy deprecated
  no longer supported, old way: deprecated legacy compat
  new, newer, newest, latest: new latest recent fresh
  undo, undone, take back, roll back, go back: undo revert rollback restore reset
  put back, restore, original state, back to normal: restore reset revert
  throw away, thrown away, discard: discard evict drop dispose
  give back, gave back, given back: release return free
  never gave back, never given back, never closed, not released: leak detect unclosed release
  borrow, get hold of: acquire borrow checkout obtain
  lost, lose, goes missing, missing, not there: missing lost notfound absent
  alive, still there, still works, still working: alive health heartbeat keepalive ping healthy
  unused, not used, idle, nothing to do: idle unused free
  busy, overloaded, too busy: busy overload backpressure saturated
  setting, options, preferences: config settings options configuration preferences
  default, if nothing is given, not given: default fallback
  by itself, on its own, automatically: auto automatic
  by hand: manual
  number: number int count integer numeric
  count, how often: count counter total stats
  range, span, from one to another, between two: range interval span bounds
  sum, add up, total: sum total aggregate
  round: round floor ceil truncate precision
  bracket, parenthesis, braces: bracket paren brace
  matching bracket, pair of brackets: match bracket pair
  asterisk, star, placeholder, wildcards: wildcard glob pattern placeholder
  pattern: pattern regex regexp glob match
  capital, capital letters, upper case, lower case, uppercase, lowercase, small letters: case upper lower uppercase lowercase insensitive
  letter: char character rune
  accent, umlaut, foreign letters: unicode normalize utf8 encoding
  quote, quotation marks: quote escape
  word: word token
  spelling, misspelled, typo: suggest distance similar typo
  nothing, empty, nothing in it: empty null nil none zero blank
  date, day, week, month, year: date time day
  in the future, next week, tomorrow: future schedule date
  clock, time of day, current time: time clock now timestamp
  every hour, every day, every minute, regularly, from time to time, now and then: interval cron schedule periodic timer ticker
  age, how old, lifetime: age ttl expire lifetime maxage
  expired, run out, no longer valid: expire expiry ttl invalid
  random, by chance, at the same moment, spread out: random jitter shuffle rand
  burst, many in a short time, calm down, settle: debounce throttle batch coalesce aggregate
  collect, gather, bundle: collect batch aggregate buffer gather
  order, sort, first one: sort order compare priority
  more important, most important, goes first: priority rank weight
  choose, chosen, pick: select choose pick resolve strategy
  evenly, spread over, distribute: balance distribute roundrobin shard hash
  which one is next, take turns: next roundrobin rotate
  other program, helper program, external program, another program: command exec process spawn subprocess external
  run, carry out, carried out: run execute exec invoke perform
  child process, started program: child process spawn fork
  command line, terminal, console: cli command args argv terminal tty shell
  keyboard, keys pressed, key press, shortcut: key keymap binding keyboard
  mouse, click: mouse click pointer
  screen, window: screen window display view viewport
  scroll: scroll viewport offset
  cursor, caret: cursor caret position
  clipboard, copy and paste, paste: clipboard paste yank register
  selected, marked, highlighted: selection select highlight mark
  fake, pretend, stand-in: mock stub fake dummy spy
  test: test spec check
  zipped, zip, packed, squeeze, smaller: compress gzip zip archive deflate
  unpack, unzip: decompress extract inflate unzip unpack
  not text: binary
  picture, photo, image: image picture img
  similar, alike, nearly the same: similar related like fuzzy
  article: post article entry
  refresh, up to date: refresh reload update sync invalidate
  reload, restart, start over: reload restart reset respawn
  watch, keeps an eye on, observe, looks for changes: watch observe monitor listen
  form, field: form field input param attribute property
  column: column field
  list: list array collection
  table: table map
  resume, continue, take up again, taken up again, carry on: resume continue restore recover
  after a restart, survive, next run, from one run to the next: persist save load restore state
  inform, let know: notify emit event signal callback publish
  warn: warn warning alert
  listen, hear about: listen subscribe handler observer
  react, respond to: handle handler callback hook on
  vanish, disappear, left out, leave out: filter omit hide strip exclude skip ignore
  ignore, skip, skipped, passed over: ignore skip exclude omit
  only some, narrow down: filter select match
  trace, where it happened, call stack: stacktrace stack backtrace traceback trace
  chain: chain pipeline compose
  nested, inside each other, inside one another: nested deep recursive depth
  turn into, convert, translate: convert transform to parse encode map
  read: read parse load decode
  write, written, save: write save store persist dump serialize
  text form, to text, as text: string serialize stringify format encode
  from text, understand, understood, make sense of: parse decode deserialize
  human-readable, readable: format humanize pretty
  load, fetch, download: load download fetch request get
  upload: upload put send
  talk to, speak: connect request client protocol
  visit: visit request access
  sent elsewhere, sent on, brought back, forwarded, passed on: redirect forward location proxy
  go-between, middleman, in between: proxy middleware relay
  disk, hard disk: disk file storage fs
  memory, ram: memory heap alloc buffer cache
  room, space left, full, fills up: full capacity size limit overflow
  grow, bigger, larger: grow resize expand increase
  shrink, smaller: shrink reduce resize
  half-written, half written, partly written, all or nothing: atomic transaction commit rename sync
  power cut, power loss: fsync sync journal
  thread: thread worker pool
  own thread, in the background, behind the scenes: background worker thread async
  steal, take work from others, from the others: steal balance
  stuck, hang: timeout deadlock stuck watchdog hang
  circle, circular, each other, in a loop: cycle circular recursion loop
  depend, needs first, needed first: dependency require depend
  plugin, add-on, extend, extension: plugin extension hook module
  own, custom: custom user
  country, region: locale region
  money, price: price amount currency
  map, place on a map: map location coordinate
  nickname, another name, other name, short name: alias name
  label: label tag name
  owner, belongs to: owner parent
  version: version revision release
  unfinished, not finished, incomplete, never finished: unfinished incomplete pending partial
  finished, completed: complete done finish success
  success, worked: success ok
  progress, how far: progress status percent
  measure, how long it takes: measure timing duration metrics elapsed
  statistics, numbers about: stats metrics
  example, sample: example sample
  explain, explanation, help text: help usage describe explain message
  guard, protect: guard protect prevent safe lock
  prevent, keeps from, what stops: prevent guard block lock protect
  rule: rule policy
  group, belong together: group bucket cluster
  thin out, thinned out: prune expire retention
  how long ago, in the past: age history since elapsed
  attach: attach mount bind
  detach: detach unmount
  wrap, around: wrap wrapper decorator
  begin and end, borders, edge: boundary start end range edge
`;

const BY_FIRST_WORD: ReadonlyMap<string, readonly Entry[]> = readTable();

function readTable(): ReadonlyMap<string, readonly Entry[]> {
  const byFirst = new Map<string, Entry[]>();
  for (const line of TABLE.trim().split('\n')) {
    const [phrases = '', synonyms = ''] = line.split(':');
    for (const text of phrases.split(',')) {
      const entry = { phrase: splitWords(text).map(listForms), synonyms: splitWords(synonyms) };
      for (const form of entry.phrase[0] ?? []) byFirst.set(form, [...(byFirst.get(form) ?? []), entry]);
    }
  }
  return byFirst;
}

/** A word and its regular inflections. Stems would take "past" for "paste". */
function listForms(word: string): ReadonlySet<string> {
  const base = word.replace(/e$/, '');
  return new Set([word, `${word}s`, `${word}es`, `${base}ed`, `${base}ing`, word.replace(/y$/, 'ies')]);
}
