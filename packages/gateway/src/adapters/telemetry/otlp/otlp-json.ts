import { truncateText } from '@assay-mcp/kit/shorten';

/**
 * JSON of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in lowerCamelCase, ids in
 * hexadecimal, 64-bit integers as strings, enums as numbers.
 */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } };

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Makes a text fit for export: masks secrets. */
export type Mask = (text: string) => string;

const MAX_TEXT_LENGTH = 1_024;
const MAX_DEPTH = 6;
const MAX_ITEMS = 64;

export function buildAttributes(values: Readonly<Record<string, unknown>>, mask: Mask): readonly KeyValue[] {
  return listEntries(values).map(([key, value]) => ({
    key: toText(key, mask),
    value: toAnyValue(value, mask),
  }));
}

/** Texts are masked before they are cut, so that no part of a secret remains. */
export function toText(text: string, mask: Mask, maxLength: number = MAX_TEXT_LENGTH): string {
  return truncateText(mask(text), maxLength).toWellFormed();
}

function toAnyValue(value: unknown, mask: Mask, depth = 0): AnyValue {
  switch (typeof value) {
    case 'boolean':
      return { boolValue: value };
    case 'number':
      if (Number.isSafeInteger(value)) return { intValue: String(value) };
      return Number.isFinite(value) ? { doubleValue: value } : { stringValue: String(value) };
    case 'bigint':
      return { stringValue: String(value) };
    case 'object':
      if (value === null) return { stringValue: '' };
      if (depth >= MAX_DEPTH) return { stringValue: '[too deep]' };
      if (Array.isArray(value))
        return {
          arrayValue: { values: value.slice(0, MAX_ITEMS).map((one) => toAnyValue(one, mask, depth + 1)) },
        };
      return {
        kvlistValue: {
          values: listEntries(value as Readonly<Record<string, unknown>>).map(([key, one]) => ({
            key: toText(key, mask),
            value: toAnyValue(one, mask, depth + 1),
          })),
        },
      };
    default:
      return { stringValue: toText(String(value), mask) };
  }
}

function listEntries(values: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .slice(0, MAX_ITEMS);
}

/** A time in ms since 1970 as nanoseconds. */
export function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

/** What belongs to all items of an export. */
export interface Source {
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
}

export function buildSource({ resource, version }: Source): {
  readonly resource: { readonly attributes: readonly KeyValue[] };
  readonly scope: { readonly name: string; readonly version: string };
} {
  return {
    // What the operator set is exported as it is.
    resource: { attributes: buildAttributes(resource, (text) => text) },
    scope: { name: 'assay', version },
  };
}
