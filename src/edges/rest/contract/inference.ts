// The pages show the inferred hints while a request is typed, so they use the rule itself.
export { inferFromMethod } from '../../../core/hints/infer.ts';
