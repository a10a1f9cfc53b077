import type { Questions } from './question-sets.ts';

/** About this repository; written from the code alone, before the first search. */
export const OWN_HELD_OUT: Questions = {
  '.': [
    [
      'When a server dies midway through a request, how is it decided whether that request can safely be sent a second time?',
      /^packages\/gateway\/src\/(core\/policy\/retry|gateway\/relay\/send-again)[.]ts$/,
    ],
    [
      'How does a crashed backend get started again, and after how many failures does the system slow down its attempts?',
      /^packages\/gateway\/src\/core\/supervision[.]ts$/,
    ],
    [
      'When a shared pool is full, which user has to give up a place so that one greedy user cannot crowd out the others?',
      /^packages\/gateway\/src\/core\/fair-share[.]ts$/,
    ],
    [
      'How are overly long tool names made shorter for editors that cannot cope with them?',
      /^packages\/gateway\/src\/core\/name-budget[.]ts$/,
    ],
    [
      'How is a malicious website prevented from talking through my browser to the program running on my own computer?',
      /^packages\/gateway\/src\/edges\/mcp\/guard[.]ts$/,
    ],
    [
      'How long does a one-time login link stay usable, and how long am I logged in afterwards?',
      /^packages\/gateway\/src\/core\/page-session[.]ts$/,
    ],
    [
      'How can somebody find out that an entry in the history of past calls was secretly altered or deleted?',
      /^packages\/gateway\/src\/(core\/activity\/call-chain|gateway\/services\/activity\/call-history)[.]ts$/,
    ],
    [
      'Where are passwords and API keys recognised just by how they look, so that they can be blanked out of text?',
      /^packages\/kit\/src\/secret-shapes[.]ts$/,
    ],
    [
      'How is a flood of wrong login credentials kept from overloading the database?',
      /^packages\/gateway\/src\/adapters\/auth\/look-ups[.]ts$/,
    ],
    [
      'What happens to the existing data when I bring back a saved copy, and is that refused while the program is running?',
      /^packages\/gateway\/src\/adapters\/store\/sqlite-backup[.]ts$/,
    ],
    [
      'What does the client receive when the answer of a tool is bigger than the allowed size?',
      /^packages\/(gateway\/src\/gateway\/relay\/large-result|protocol\/src\/cut-result)[.]ts$/,
    ],
    [
      'How does an older background process step aside when a newer release of the program shows up, without cutting off running work?',
      /^packages\/gateway\/src\/app\/(ending|serve|attach)[.]ts$/,
    ],
    [
      'How does it notice that a long-lived streaming connection has silently gone dead although it still looks open?',
      /^packages\/gateway\/src\/adapters\/upstream\/stream-heartbeat[.]ts$/,
    ],
    [
      'How is a reply that merely says the job is done told apart from one carrying text a stranger could have written?',
      /^packages\/gateway\/src\/core\/policy\/acknowledgement[.]ts$/,
    ],
    [
      'When I disconnect my editor again, how is its settings file put back the way it was before?',
      /^packages\/gateway\/src\/adapters\/config\/client-configs\/undo-connect[.]ts$/,
    ],
    [
      'How are side effects that would have happened anyway, without the call, kept from being blamed on the tool under test?',
      /^packages\/verify\/src\/judge\/judge-tool[.]ts$/,
    ],
    [
      'What does the checker do when a trial call fails and the error message hints at what was wrong with the input?',
      /^packages\/verify\/src\/(arguments\/read-error|experiment\/explore-tools)[.]ts$/,
    ],
    [
      'How does the checker notice that a supposedly harmless tool changes something a server only remembers and never writes to disk?',
      /^packages\/verify\/src\/experiment\/memory-changes[.]ts$/,
    ],
    [
      'What becomes of known problems somebody once agreed to tolerate, when a new check no longer finds them?',
      /^packages\/verify\/src\/baseline[.]ts$/,
    ],
    [
      'When a third-party package is downloaded for testing, how is its install code kept from running and from filling up the disk?',
      /^packages\/verify\/src\/package\/(fetch-package|measure-folder)[.]ts$/,
    ],
    [
      'Where are the fake keys and passwords made up that are laid out as bait for nosy servers?',
      /^packages\/sandbox\/src\/canaries[.]ts$/,
    ],
    [
      'How is a change to a file recognised as unimportant, such as an added log line or a leftover lock?',
      /^packages\/sandbox\/src\/noise[.]ts$/,
    ],
    [
      'How is a confined server stopped from tampering with our own settings and data when these lie inside a folder it may write to?',
      /^packages\/sandbox\/src\/protected-paths[.]ts$/,
    ],
    [
      'Where does a user get told what to install when isolation cannot be set up on their machine?',
      /^packages\/sandbox\/src\/support[.]ts$/,
    ],
    [
      'Why do example code, copied third-party code and licence texts appear lower in the results, and when is that not the case?',
      /^packages\/codebase\/src\/search\/path-factor[.]ts$/,
    ],
    [
      'After I save many files in quick succession, how long does it wait until it refreshes what can be searched?',
      /^packages\/codebase\/src\/watch\/update-schedule[.]ts$/,
    ],
    [
      'How are two processes prevented from writing the same search data at the same time?',
      /^packages\/codebase\/src\/store\/index-lock[.]ts$/,
    ],
    [
      'When I make a typo, how does it work out which word I probably meant?',
      /^packages\/kit\/src\/nearest[.]ts$/,
    ],
    [
      "How is user-written code kept from killing other processes or loading native libraries where Node's own restrictions leave holes?",
      /^packages\/functions\/src\/(permission-gaps|harden-globals)[.]ts$/,
    ],
    [
      'What happens to a half-filled form on the web page when a different person logs in afterwards?',
      /^packages\/admin\/src\/state\/(drafts|session)[.]ts$/,
    ],
  ],
};
