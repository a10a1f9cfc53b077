import * as z from 'zod';

/** The data that a schema describes. It is immutable: services share what they return. */
export type Data<S extends z.ZodType> = Immutable<z.output<S>>;

/** The data that a schema accepts: members with a default are optional. */
export type DataInput<S extends z.ZodType> = Immutable<z.input<S>>;

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** The cursor in a page of a list. */
export const NEXT_CURSOR = z.string().exactOptional().meta({
  description: 'Value of `cursor` for the next page. Absent on the last page.',
});
