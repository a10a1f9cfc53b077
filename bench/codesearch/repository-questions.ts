import type { Questions } from './question-sets.ts';

// Written from the code alone, before the first search, about repositories that nothing was tuned to until then. By
// repository and commit. An answer matches the whole path.

/** Ranking weights may be chosen with these. */
export const NEW_TUNING: Questions = {
  // rust
  'BurntSushi/ripgrep@3fce3b5bb0236da2df6d99672afb8a719642eca7': [
    [
      'how does it notice that a file is not text while it is reading through it',
      /^crates\/searcher\/src\/(line_buffer|searcher\/(core|mod))\.rs$/,
    ],
    [
      'which helper programs are started to look inside zipped-up files, and how are they picked by file ending',
      /^crates\/cli\/src\/decompress\.rs$/,
    ],
    [
      'where do the default options that a user keeps in a file of their own get read at startup',
      /^crates\/core\/flags\/config\.rs$/,
    ],
    [
      'how is it found out that the search text contains capital letters, so that upper and lower case should be told apart',
      /^crates\/regex\/src\/(ast|config)\.rs$/,
    ],
    [
      'when one thread runs out of folders to explore, how does it get some from the others',
      /^crates\/ignore\/src\/walk\.rs$/,
    ],
  ],
  // java
  'brettwooldridge/HikariCP@604d7d5838e96afbbdd4e19eedab7497cf368eb6': [
    [
      'what warns me when my code took a connection and never gave it back',
      /^src\/main\/java\/com\/zaxxer\/hikari\/pool\/ProxyLeakTask(Factory)?\.java$/,
    ],
    [
      'how does a thread tend to get the connection it used last time, without fighting with the others',
      /^src\/main\/java\/com\/zaxxer\/hikari\/util\/ConcurrentBag\.java$/,
    ],
    [
      'if the application switched a connection to read-only or changed the schema, what undoes that before the next caller gets it',
      /^src\/main\/java\/com\/zaxxer\/hikari\/pool\/(PoolBase|ProxyConnection)\.java$/,
    ],
    [
      'which database errors mean that a connection is broken for good and must be thrown away',
      /^src\/main\/java\/com\/zaxxer\/hikari\/(pool\/ProxyConnection|SQLExceptionOverride)\.java$/,
    ],
    [
      'what keeps all connections from reaching retirement age at the same moment',
      /^src\/main\/java\/com\/zaxxer\/hikari\/pool\/HikariPool\.java$/,
    ],
  ],
  // c
  'curl/curl@5c61e168698a72b87437d58ed728bcdea6d5db42': [
    [
      'when a server has both old-style and new-style internet addresses, how are attempts raced against each other',
      /^lib\/cf-ip-happy\.c$/,
    ],
    [
      'how does it remember from one run to the next that a site must only be talked to over an encrypted channel',
      /^lib\/hsts\.c$/,
    ],
    [
      'how does the command line tool turn a number span in brackets into many downloads',
      /^src\/tool_urlglob\.c$/,
    ],
    ['which unused connection gets closed when there are too many of them', /^lib\/conncache\.c$/],
    [
      'how is it checked that the name in a certificate with an asterisk fits the site we asked for',
      /^lib\/vtls\/hostcheck\.c$/,
    ],
  ],
  // ruby
  'heartcombo/devise@7ca7ed9c174525a4d36167441b35af4a0991b6af': [
    [
      'what stops somebody from guessing a password again and again',
      /^lib\/devise\/(models|hooks)\/lockable\.rb$/,
    ],
    [
      'how is it kept secret that nobody is registered under an address, so that the response takes equally long either way',
      /^lib\/devise\/strategies\/database_authenticatable\.rb$/,
    ],
    [
      'when people change their address, how does the old one stay in use until they clicked the link in the message',
      /^lib\/devise\/models\/confirmable\.rb$/,
    ],
    [
      'how do I let the sign-up form take further fields such as a nickname',
      /^lib\/devise\/parameter_sanitizer\.rb$/,
    ],
    [
      'how is a visitor who had to log in first brought back to the page they were after',
      /^lib\/devise\/(controllers\/(store_location|helpers)|failure_app)\.rb$/,
    ],
  ],
  // ruby
  'jekyll/jekyll@202df571314ba1d18e9fccd81d12aaad4a703c38': [
    [
      'how does the open browser page refresh by itself after I edited something',
      /^lib\/jekyll\/commands\/serve\/(live_reload_reactor|servlet|websockets)\.rb$/,
    ],
    [
      'what deletes leftovers from the output folder that no longer belong there',
      /^lib\/jekyll\/cleaner\.rb$/,
    ],
    ['why does an article dated next week not show up on the site', /^lib\/jekyll\/publisher\.rb$/],
    [
      'how can every page below a folder get the same settings without repeating them at the top of each',
      /^lib\/jekyll\/frontmatter_defaults\.rb$/,
    ],
    ['where does the list of similar articles for an article come from', /^lib\/jekyll\/related_posts\.rb$/],
  ],
  // java
  'mockito/mockito@ee8a330da0218f32d5964acdeaa3ac39e2c6ce14': [
    [
      'how is it discovered that an earlier line began to set up or check a mock but never finished the sentence',
      /^mockito-core\/src\/main\/java\/org\/mockito\/internal\/progress\/MockingProgressImpl\.java$/,
    ],
    [
      'what keeps checking again and again until the expected call has happened or the time is up',
      /^mockito-core\/src\/main\/java\/org\/mockito\/internal\/verification\/VerificationOverTimeImpl\.java$/,
    ],
    [
      "how do the library's own lines vanish from the trace of a failing test",
      /^mockito-core\/src\/main\/java\/org\/mockito\/internal\/exceptions\/stacktrace\/(DefaultStackTraceCleaner|StackTraceFilter|ConditionalStackTraceFilter)\.java$/,
    ],
    [
      'how can a chain of several calls work on a fake object without preparing every link',
      /^mockito-core\/src\/main\/java\/org\/mockito\/internal\/stubbing\/defaultanswers\/ReturnsDeepStubs\.java$/,
    ],
    [
      'what does a call that nobody prepared give back, such as zero or a list with nothing in it',
      /^mockito-core\/src\/main\/java\/org\/mockito\/internal\/stubbing\/defaultanswers\/Returns(More)?EmptyValues\.java$/,
    ],
  ],
  // python
  'scrapy/scrapy@11079cb1c85b9e75a39a7269943c69d1a975d485': [
    ['what keeps the same address from being visited twice', /^scrapy\/(dupefilters|utils\/request)\.py$/],
    [
      'how does the crawl slow down by itself when a site takes long to answer',
      /^scrapy\/extensions\/throttle\.py$/,
    ],
    [
      'how can a crawl be interrupted and taken up again tomorrow, with the outstanding pages kept on disk',
      /^scrapy\/(core\/scheduler|squeues|pqueues)\.py$/,
    ],
    [
      'what limits how many pages of one site are loaded at the same time',
      /^scrapy\/core\/downloader\/__init__\.py$/,
    ],
    [
      "how can I paste a command copied from the browser's network panel and get the same fetch",
      /^scrapy\/utils\/curl\.py$/,
    ],
  ],
  // go
  'syncthing/syncthing@328d910aee822178f55442c76bc7e35ce34d68cc': [
    [
      'when the same file was edited on two machines, whose edit is kept under the original name',
      /^lib\/(protocol\/(bep_fileinfo|vector)|model\/folder_sendrecv)\.go$/,
    ],
    [
      'how are older copies of a file thinned out so that fewer remain the longer ago they were made',
      /^lib\/versioner\/staggered\.go$/,
    ],
    [
      "how can a machine that I don't trust store my files without being able to read them",
      /^lib\/protocol\/encryption\.go$/,
    ],
    [
      'how does it wait until a burst of file activity has calmed down before looking at what changed',
      /^lib\/watchaggregator\/aggregator\.go$/,
    ],
    [
      'what guards against two names that differ only in capital letters on a Mac or Windows disk',
      /^lib\/fs\/casefs\.go$/,
    ],
  ],
};

/** For judging only. */
export const NEW_HELD_OUT: Questions = {
  // typescript
  'TanStack/query@40321a0b1b3bdd0afa11f0e439642ab84cdf6afe': [
    [
      'if a refresh brings back the same content, how does the caller keep getting the very same object so nothing redraws',
      /^packages\/query-core\/src\/utils\.ts$/,
    ],
    [
      'how are many updates to listeners bundled so that the screen is not repainted for each one',
      /^packages\/query-core\/src\/notifyManager\.ts$/,
    ],
    [
      'how do two open tabs of the same site keep their fetched data in step',
      /^packages\/query-broadcast-client-experimental\/src\/index\.ts$/,
    ],
    [
      "when the browser's disk quota is full while saving, what gets dropped so that it fits",
      /^packages\/query-persist-client-core\/src\/retryStrategies\.ts$/,
    ],
    [
      "how does it know which fields of the answer a component has looked at, so that changes in the others don't wake it",
      /^packages\/query-core\/src\/queryObserver\.ts$/,
    ],
  ],
  // go
  'caddyserver/caddy@0cf03d32f7d99cf160d5375e8a40fbe3d910d515': [
    [
      'what decides which sites get a certificate without being told to, and sends visitors from the plain to the secure address',
      /^modules\/caddyhttp\/autohttps\.go$/,
    ],
    [
      'if freshly submitted settings turn out to be broken, how does the running server fall back to what it had',
      /^caddy\.go$/,
    ],
    [
      'how can the same visitor be sent to the same machine behind the proxy on every visit',
      /^modules\/caddyhttp\/reverseproxy\/selectionpolicies\.go$/,
    ],
    [
      'how do several servers in a cluster share the secrets that let a returning browser skip the full handshake',
      /^modules\/caddytls\/distributedstek\/distributedstek\.go$/,
    ],
    [
      "how can private details such as visitors' addresses be hidden before they are written to the log",
      /^modules\/logging\/filters\.go$/,
    ],
  ],
  // python
  'celery/celery@5dc781f0bd5f36186bfcc74e0a4f9f654452c69b': [
    [
      'when a worker boots, how does it learn from its neighbours which jobs have been cancelled',
      /^celery\/worker\/consumer\/mingle\.py$/,
    ],
    [
      'how does the number of worker processes grow and shrink with the amount of work',
      /^celery\/worker\/autoscale\.py$/,
    ],
    [
      'once the last of several jobs that ran side by side is done, what starts the one that was waiting for all of them',
      /^celery\/(backends\/(base|redis)|app\/builtins)\.py$/,
    ],
    ["how is a text such as 'every quarter of an hour on weekdays' understood", /^celery\/schedules\.py$/],
    [
      'how can a job run again by itself after certain errors, waiting longer after each failure',
      /^celery\/(app\/autoretry|utils\/time)\.py$/,
    ],
  ],
  // java
  'google/gson@9835b6f90192f79cdf5300c528fc6212455fb6c1': [
    [
      'how does it make an object of a class that offers no constructor without arguments',
      /^gson\/src\/main\/java\/com\/google\/gson\/internal\/(ConstructorConstructor|UnsafeAllocator)\.java$/,
    ],
    [
      'which members are left out of the output, such as those belonging to inner classes or to a later release',
      /^gson\/src\/main\/java\/com\/google\/gson\/internal\/Excluder\.java$/,
    ],
    [
      'what protects us from somebody who sends a number with absurdly many digits',
      /^gson\/src\/main\/java\/com\/google\/gson\/internal\/NumberLimits\.java$/,
    ],
    [
      'how is endless recursion avoided when preparing to handle a class that refers to itself, such as a tree node',
      /^gson\/src\/main\/java\/com\/google\/gson\/Gson\.java$/,
    ],
    [
      'when reading back a mixed list of shapes, how can a label in the JSON pick the right subclass',
      /^extras\/src\/main\/java\/com\/google\/gson\/typeadapters\/RuntimeTypeAdapterFactory\.java$/,
    ],
  ],
  // rust
  'helix-editor/helix@079a789e8cb08ead67f19e1971a1b7438b37354b': [
    [
      'how can I bring back the text as it was five minutes ago, even after undoing and typing something else',
      /^helix-core\/src\/history\.rs$/,
    ],
    [
      'how does the editor work out, without freezing, which lines differ from the committed version',
      /^helix-vcs\/src\/diff(\/worker)?\.rs$/,
    ],
    ['how are the language parsers downloaded and compiled', /^helix-loader\/src\/grammar\.rs$/],
    [
      'before obeying settings that came along with a project, how does the editor ask whether the project can be relied on',
      /^(helix-loader\/src|helix-term\/src\/handlers)\/workspace_trust\.rs$/,
    ],
    [
      'how does the editor add one to a number or move a calendar day forward under the cursor',
      /^helix-core\/src\/increment\/(integer|date_time|mod)\.rs$/,
    ],
  ],
  // typescript
  'honojs/hono@28a9c128912de19f3fb28b00ae289c9b93f6f392': [
    [
      'when there are several ways of matching an address to a handler, how does it pick one that can cope with all of them',
      /^src\/router\/smart-router\/router\.ts$/,
    ],
    [
      "how is a form that was sent from somebody else's website turned away",
      /^src\/middleware\/csrf\/index\.ts$/,
    ],
    [
      'on the calling side, how does writing one property name after another become a fetch to the right address',
      /^src\/client\/client\.ts$/,
    ],
    [
      "how are the events of Amazon's functions turned into ordinary web requests and back",
      /^src\/adapter\/(aws-lambda|lambda-edge)\/handler\.ts$/,
    ],
    [
      'how does it find out which language the visitor would like to read',
      /^src\/middleware\/language\/language\.ts$/,
    ],
  ],
  // c
  'libuv/libuv@6179e7af87413396d5853a1c3722c8b5749336c8': [
    ['how can code on another thread wake up a loop that is asleep', /^src\/(unix|win)\/async\.c$/],
    ['what keeps slow host name lookups from occupying every background thread', /^src\/threadpool\.c$/],
    [
      'what does a server do about waiting clients when the process may not open any more files',
      /^src\/unix\/stream\.c$/,
    ],
    ["how are changes to a file noticed where the operating system doesn't report them", /^src\/fs-poll\.c$/],
    [
      'how does a host name with accented letters become plain letters before it is looked up',
      /^src\/idna\.c$/,
    ],
  ],
  // python
  'pytest-dev/pytest@df87db7b0462fb764ef73fa00561adf8ad047572': [
    [
      'how can a plain check that fails show the values of all its parts without special comparison functions',
      /^src\/_pytest\/assertion\/rewrite\.py$/,
    ],
    [
      'what gets rid of the scratch folders left behind by earlier runs',
      /^src\/_pytest\/(pathlib|tmpdir)\.py$/,
    ],
    [
      'how does looking at the upcoming test settle which shared set-ups are torn down now and which are kept',
      /^src\/_pytest\/runner\.py$/,
    ],
    [
      "how is a phrase like 'slow and not windows' understood when picking tests",
      /^src\/_pytest\/mark\/expression\.py$/,
    ],
    [
      'how can I halt at the first broken test and carry on from there on the following run',
      /^src\/_pytest\/stepwise\.py$/,
    ],
  ],
  // go
  'restic/restic@a80be1478a4c537f8396e0db2b05120aa78f11e0': [
    [
      'how is it worked out which old backups survive when I want one per day and one per month',
      /^internal\/data\/snapshot_policy\.go$/,
    ],
    [
      'how is it recognised that the mark keeping other runs out was left behind by a crashed one and can be ignored',
      /^internal\/repository\/lock(_file)?\.go$/,
    ],
    [
      'when reclaiming space, how is it settled which storage files are rewritten and which are deleted outright',
      /^internal\/repository\/prune\.go$/,
    ],
    [
      'how does it avoid reading a file again that has not been touched since the last backup',
      /^internal\/archiver\/archiver\.go$/,
    ],
    [
      'when bringing files back, how are long empty stretches kept from taking up disk space',
      /^internal\/restorer\/sparsewrite\.go$/,
    ],
  ],
  // ruby
  'sidekiq/sidekiq@1bb4aa06e5aa178a114a5e855f9f3d5c24f6c61b': [
    [
      'what becomes of unfinished work when the process is told to quit and the time runs out',
      /^lib\/sidekiq\/(manager|fetch)\.rb$/,
    ],
    [
      'how do many machines avoid all asking the database for due jobs at the same moment',
      /^lib\/sidekiq\/scheduled\.rb$/,
    ],
    [
      'how does a very long job remember how far it got when a deploy cuts it short',
      /^lib\/sidekiq\/job\/iterable\.rb$/,
    ],
    [
      'how can a job be held back until the surrounding database changes are really saved',
      /^lib\/sidekiq\/transaction_aware_client\.rb$/,
    ],
    ['how does the dashboard know which processes are still alive', /^lib\/sidekiq\/(launcher|api)\.rb$/],
  ],
  // c
  'tmux/tmux@c1f947a3c5bc72a40c32dead736f84c4628791ec': [
    ['how does a window come to be called after whatever program runs in it', /^names\.c$/],
    [
      'who besides me on this computer may connect, and who may only watch',
      /^(server-acl|cmd-server-access)\.c$/,
    ],
    ['two people with differently sized terminals look at the same window: whose size wins', /^resize\.c$/],
    [
      'what happens to a program that drives it by text messages and reads the output too slowly',
      /^control\.c$/,
    ],
    ['how many pieces of copied text are remembered, and which one is forgotten first', /^paste\.c$/],
  ],
  // rust
  'tokio-rs/tokio@ea91b33ca57ff0581b38e735cc108f831bccbdaa': [
    [
      'what stops one task that never has to wait from starving all the others',
      /^tokio\/src\/task\/coop\/(mod|consume_budget)\.rs$/,
    ],
    [
      'if I let go of a child program before it has exited, who keeps it from becoming a zombie',
      /^tokio\/src\/process\/unix\/(orphan|pidfd_reaper|reap|mod)\.rs$/,
    ],
    [
      'how can a test make the clock stand still and then jump ahead without really waiting',
      /^tokio\/src\/time\/clock\.rs$/,
    ],
    [
      'what happens with a repeating timer when my code was too slow for several beats',
      /^tokio\/src\/time\/interval\.rs$/,
    ],
    [
      'when are extra threads for long-running synchronous work started, and when do they go away again',
      /^tokio\/src\/runtime\/blocking\/(pool|sharded)\.rs$/,
    ],
  ],
};
