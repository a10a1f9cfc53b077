import { Ansis } from 'ansis';

/** Colours for a terminal alone, or where FORCE_COLOR asks for them: also a CI machine reads plain text from a pipe. */
const isWanted = process.stdout.isTTY || process.env['FORCE_COLOR'] !== undefined;

export const style: Ansis = isWanted ? new Ansis() : new Ansis(0);
