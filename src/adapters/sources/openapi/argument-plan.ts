import type { FlatSchema } from './flat-schema.ts';
import type { Parameter } from './parameters.ts';

/** Which argument of a tool goes where in its request. */
export interface ArgumentPlan {
  readonly slots: readonly Slot[];
  readonly body: BodyArguments;
}

export interface Slot {
  readonly argument: string;
  readonly parameter: Parameter;
}

export type BodyArguments =
  | { readonly kind: 'none' }
  /** One argument is the whole body. */
  | { readonly kind: 'whole'; readonly argument: string }
  /** Each member is an argument; whatever else comes is a member too where `takesOthers`. */
  | { readonly kind: 'members'; readonly members: readonly BodyMember[]; readonly takesOthers: boolean };

export interface BodyMember {
  readonly argument: string;
  readonly property: string;
}

const BODY = 'body';

/** `flat` is the schema of the body where its properties may be arguments; undefined: it is one argument, if there is one. */
export function planArguments(
  parameters: readonly Parameter[],
  hasBody: boolean,
  flat: FlatSchema | undefined,
): ArgumentPlan {
  const members = [...(flat?.properties.keys() ?? [])].map((property) => ({
    argument: argumentName(property),
    property,
  }));
  const slots = slotsFor(parameters, new Set());
  const names = [...slots, ...members].map(({ argument }) => argument);
  const isFlat = flat !== undefined && members.length > 0 && new Set(names).size === names.length;
  if (!hasBody) return { slots, body: { kind: 'none' } };
  if (!isFlat)
    return { slots: slotsFor(parameters, new Set([BODY])), body: { kind: 'whole', argument: BODY } };
  return { slots, body: { kind: 'members', members, takesOthers: flat.others !== undefined } };
}

/** Parameters that share a name are told apart by their places. */
function slotsFor(parameters: readonly Parameter[], reserved: ReadonlySet<string>): readonly Slot[] {
  const counts = new Map<string, number>();
  for (const { name } of parameters) {
    const argument = argumentName(name);
    counts.set(argument, (counts.get(argument) ?? 0) + 1);
  }
  const taken = new Set(reserved);
  for (const [name, count] of counts) if (count === 1) taken.add(name);
  return parameters.map((parameter) => {
    const name = argumentName(parameter.name);
    if (counts.get(name) === 1 && !reserved.has(name)) return { argument: name, parameter };
    const base = `${name.slice(0, LONGEST - 10)}_${parameter.place}`;
    let argument = base;
    for (let count = 2; taken.has(argument); count += 1) argument = `${base}_${count}`;
    taken.add(argument);
    return { argument, parameter };
  });
}

const LONGEST = 64;

/**
 * Models' APIs refuse all tools of a request for one property whose name is none of `[a-zA-Z0-9_.-]{1,64}`; `__proto__` is
 * no property to many a program, checks of schemas among them.
 */
function argumentName(name: string): string {
  if (/^[a-zA-Z0-9_.-]{1,64}$/.test(name) && name !== '__proto__') return name;
  const clean = name
    .slice(0, 4 * LONGEST)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, LONGEST);
  return clean === '' ? 'value' : clean;
}
