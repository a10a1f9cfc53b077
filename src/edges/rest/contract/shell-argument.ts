// The pages print commands to paste, too.
export { shellArgument } from '../../../core/shell-argument.ts';
