// Shown while a request is typed, so the pages have the rule itself.
export { inferFromMethod } from '../../../core/hints/infer.ts';
