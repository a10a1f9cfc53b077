import { expect, test } from 'vitest';
import { chunkSource } from '../src/chunks/chunk-source.ts';
import { GRAMMARS, detectLanguage } from '../src/chunks/languages.ts';

interface Case {
  /** Starts with a line break, which is removed. */
  readonly source: string;
  /** `lines kind | parent > symbol | signature` for each chunk. */
  readonly chunks: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'Cart.java': {
    source: String.raw`
package shop;

import java.util.List;

/** A cart. */
@Entity
public class Cart<T> extends Base implements Store {
    private int x = 1;

    /** Makes. */
    public Cart(int x) { this.x = x; }

    @Override
    public void add(T item) throws Exception {
    }

    enum Kind { A, B; void f() {} }
    static class Inner { void g() {} }
    interface I { void h(); }
    static { }
}

record Point(int x, int y) { int sum() { return x + y; } }
@interface Ann { String value(); }
`,
    chunks: [
      '1-4 block',
      '5-22 class | Cart | @Entity public class Cart<T> extends Base implements Store',
      '23-23 class | Point | record Point(int x, int y)',
      '24-24 interface | Ann | @interface Ann',
    ],
  },
  'a.c': {
    source: String.raw`
#include <stdio.h>

/* A point. */
struct point {
  int x;
};

typedef struct point point_t;
enum color { RED, GREEN };
union u { int a; };

static int
add(int a, int b)
{
  return a + b;
}

char *name(void) { return "x"; }
int proto(int a);
static struct ops my_ops = {
  .open = add,
  .close = add,
};
#ifdef X
void only_x(void) {}
#else
void not_x(void) {}
#endif
int old_style(a, b) int a; int b; { return a; }
`,
    chunks: [
      '1-2 block',
      '3-7 struct | point | struct point',
      '8-8 type | point_t | typedef struct point point_t;',
      '9-9 enum | color | enum color',
      '10-11 struct | u | union u',
      '12-17 function | add | static int add(int a, int b)',
      '18-18 function | name | char *name(void)',
      '19-19 block',
      '20-23 constant | my_ops | static struct ops my_ops',
      '24-24 block',
      '25-25 function | only_x | void only_x(void)',
      '26-26 block',
      '27-28 function | not_x | void not_x(void)',
      '29-29 block',
    ],
  },
  'a.cpp': {
    source: String.raw`
#include <vector>
#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))

#ifndef SHOP_H
#define SHOP_H

namespace shop::core {

// A cart.
template <typename T>
class Cart : public Base {
 public:
  Cart();
  ~Cart() {}
  void add(const T& item) { }
  int operator+(int x) const;
  struct Inner { int a; };
  enum class Kind { A, B };
 private:
  int x_;
};

template <typename T>
void Cart<T>::add2(const T& item) {
}

Cart::~Cart() {}
int* Cart::find(int id) const { return nullptr; }
bool operator==(const A& a, const B& b) { return true; }
using Id = int;
typedef struct { int a; } Old;
typedef int (*Callback)(int);
template <class T> concept C = true;
static const int table[] = {
  1,
  2,
};
}  // namespace

extern "C" {
int c_add(int a, int b) { return a + b; }
}
#endif
TEST(Cart, Adds) {
  int x;
}
`,
    chunks: [
      '1-1 block',
      '2-4 function | MAX | #define MAX(a, b) \\ ((a) > (b) ? (a) : (b))',
      '5-9 block',
      '10-23 class | shop::core > Cart | class Cart : public Base',
      '24-27 function | shop::core.Cart > add2 | void Cart<T>::add2(const T& item)',
      '28-28 function | shop::core.Cart > ~Cart | Cart::~Cart()',
      '29-29 function | shop::core.Cart > find | int* Cart::find(int id) const',
      '30-30 function | shop::core > operator== | bool operator==(const A& a, const B& b)',
      '31-31 type | shop::core > Id | using Id = int;',
      '32-32 struct | shop::core > Old | typedef struct',
      '33-33 type | shop::core > Callback | typedef int (*Callback)(int);',
      '34-34 type | shop::core > C | concept C = true;',
      '35-38 constant | shop::core > table | static const int table[]',
      '39-41 block',
      '42-44 function | c_add | int c_add(int a, int b)',
      '45-47 function | TEST | TEST(Cart, Adds)',
    ],
  },
  'a.cs': {
    source: String.raw`
using System;

namespace Shop.Core
{
    /// <summary>A cart.</summary>
    [Serializable]
    public class Cart<T> : Base
    {
        private int x;
        public int Count { get; set; }
        public Cart(int x) { this.x = x; }
        ~Cart() { }
        public event EventHandler Changed;
        public T this[int i] => default;
        public static Cart<T> operator +(Cart<T> a, Cart<T> b) => a;

        /// <summary>Adds.</summary>
        [Obsolete]
        public void Add(T item)
        {
        }
    }
    public record Point(int X, int Y);
    public record struct P2(int X);
    public struct S { public int A; }
    interface IStore { void Get(); }
    enum Kind { A, B }
    delegate void Handler(int x);
}
`,
    chunks: [
      '1-4 block',
      '5-22 class | Shop.Core > Cart | [Serializable] public class Cart<T> : Base',
      '23-23 class | Shop.Core > Point | public record Point(int X, int Y);',
      '24-24 class | Shop.Core > P2 | public record struct P2(int X);',
      '25-25 struct | Shop.Core > S | public struct S',
      '26-26 interface | Shop.Core > IStore | interface IStore',
      '27-27 enum | Shop.Core > Kind | enum Kind',
      '28-29 type | Shop.Core > Handler | delegate void Handler(int x);',
    ],
  },
  'a.go': {
    source: String.raw`
// Package shop sells.
package shop

import "fmt"

// Limit bounds.
const Limit = 10

const (
	A = iota
	B
)

var table = map[string]int{
	"a": 1,
}

// Cart holds items.
type Cart struct {
	items []string
}

type Store interface {
	Get(id string) (string, error)
}

type ID = string

type (
	X int
	Y struct{ a int }
)

// Add puts in.
func (c *Cart) Add(item string) error {
	return nil
}

func (l List[T]) Len() int { return 0 }

func New[T any](n T) *Cart {
	return &Cart{}
}
`,
    chunks: [
      '1-8 block',
      '9-13 constant | A | const ( A',
      '14-17 constant | table | var table',
      '18-22 struct | Cart | Cart struct',
      '23-26 interface | Store | Store interface',
      '27-28 type | ID | ID = string',
      '29-30 type | X | X int',
      '31-33 struct | Y | Y struct',
      '34-38 method | Cart > Add | func (c *Cart) Add(item string) error',
      '39-40 method | List > Len | func (l List[T]) Len() int',
      '41-43 function | New | func New[T any](n T) *Cart',
    ],
  },
  'a.mjs': {
    source: String.raw`
'use strict';
exports.parse = function (text) {
  return text;
};
Parser.prototype.next = function next() {};
module.exports = class Foo {
  static x = () => 1;
};
async function* walk() {}
var a = 1, b = 2;
`,
    chunks: [
      '1-1 block',
      '2-4 function | parse | exports.parse = function (text)',
      '5-5 function | Parser > next | Parser.prototype.next = function next()',
      '6-8 class | Foo | module.exports = class Foo',
      '9-9 function | walk | async function* walk()',
      '10-10 block',
    ],
  },
  'a.php': {
    source: String.raw`
<?php
declare(strict_types=1);
namespace Shop\Core;

use Foo\Bar;

const LIMIT = 10;

/** A cart. */
#[Entity]
final class Cart extends Base implements Store
{
    use Helper;
    const A = 1;
    private int $x = 1;

    /** Adds. */
    #[Pure]
    public function add(string $item): void
    {
    }
}

interface Store { public function get(int $id): string; }
trait Helper { function help() {} }
enum Kind: string { case A = 'a'; function f() {} }
function top(int $x): int { return $x; }
if (!function_exists('y')) {
    function y() {}
}
$fn = function ($x) { return $x; };
$g = fn($x) => $x;
return [
  'a' => 1,
];
`,
    chunks: [
      '1-8 block',
      '9-23 class | Cart | #[Entity] final class Cart extends Base implements Store',
      '24-24 interface | Store | interface Store',
      '25-25 trait | Helper | trait Helper',
      '26-26 enum | Kind | enum Kind: string',
      '27-27 function | top | function top(int $x): int',
      '28-28 block',
      '29-30 function | y | function y()',
      '31-31 function | $fn | $fn = function ($x)',
      '32-32 function | $g | $g = fn($x)',
      '33-35 block',
    ],
  },
  'a.py': {
    source: String.raw`
"""Module doc."""
import os

LIMIT = 10
TABLE = {
    'a': 1,
}


# A cart.
@dataclass
class Cart(Base):
    """Doc."""
    x: int = 1

    def add(self, item):
        def inner():
            pass
        return inner


async def top(a: int,
              b: str = 'x') -> None:
    pass

try:
    import json
except ImportError:
    def loads(s):
        return s

if __name__ == '__main__':
    top(1, '2')
`,
    chunks: [
      '1-4 block',
      '5-9 constant | TABLE | TABLE',
      '10-21 class | Cart | class Cart(Base)',
      "22-25 function | top | async def top(a: int, b: str = 'x') -> None",
      '26-28 block',
      '29-31 function | loads | def loads(s)',
      '32-33 block',
    ],
  },
  'a.rb': {
    source: String.raw`
# frozen_string_literal: true
require 'json'

module Shop
  LIMIT = 10
  # A cart.
  class Cart < Base
    attr_reader :items

    # Adds.
    def add(item)
      @items << item
    end

    def self.build; new; end
    class << self
      def make = new
    end
    private
    def ==(other) true end
    NAMES = {
      a: 1,
    }.freeze
    alias_method :x, :add
  end

  module Helper
    def help; end
  end
end

def top(x)
  x
end
RSpec.describe Foo do
  it 'x' do
  end
end
task :build do
end
Point = Struct.new(:x) do
  def y; end
end
`,
    chunks: [
      '1-5 block',
      '6-26 class | Shop > Cart | class Cart < Base',
      '27-31 module | Shop > Helper | module Helper',
      '32-34 function | top | def top(x)',
      '35-40 block',
      '41-43 constant | Point | Point',
    ],
  },
  'a.rs': {
    source: String.raw`
//! Crate doc.
use std::fmt;

/// A limit.
pub const LIMIT: usize = 10;

#[derive(Debug)]
/// A cart.
pub struct Cart<T> {
    items: Vec<T>,
}

pub enum Kind { A, B }

pub trait Store {
    /// Gets.
    fn get(&self, id: &str) -> Option<String>;
    fn has(&self) -> bool { true }
}

impl<T> Store for Cart<T> {
    fn get(&self, id: &str) -> Option<String> {
        None
    }
}

impl<T> Cart<T> {
    pub fn new() -> Self { todo!() }
}

type Id = u64;
union U { a: u8 }
static X: [u8; 2] = [
    1,
    2,
];

macro_rules! square {
    ($x:expr) => { $x * $x };
}

mod inner {
    pub async unsafe fn go() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn works() {}
}
extern "C" { fn abs(x: i32) -> i32; }
`,
    chunks: [
      '1-6 block',
      '7-12 struct | Cart | pub struct Cart<T>',
      '13-14 enum | Kind | pub enum Kind',
      '15-20 trait | Store | pub trait Store',
      '21-26 class | Cart | impl<T> Store for Cart<T>',
      '27-30 class | Cart | impl<T> Cart<T>',
      '31-31 type | Id | type Id = u64;',
      '32-32 struct | U | union U',
      '33-37 constant | X | static X: [u8; 2]',
      '38-41 function | square | macro_rules! square { ($x:expr) => { $x * $x }; }',
      '42-42 block',
      '43-45 function | inner > go | pub async unsafe fn go()',
      '46-48 block',
      '49-51 function | tests > works | fn works()',
      '52-52 function | abs | fn abs(x: i32) -> i32;',
    ],
  },
  'a.sh': {
    source: String.raw`
#!/bin/bash
# Setup.
set -e
LIMIT=10

# Adds.
add() {
  echo "$1"
}

function top {
  cat <<END
x
END
}

function sub() (
  true
)
if true; then
  maybe() { :; }
fi
add 1
`,
    chunks: [
      '1-5 block',
      '6-10 function | add | add()',
      '11-16 function | top | function top',
      '17-19 function | sub | function sub()',
      '20-20 block',
      '21-22 function | maybe | maybe()',
      '23-23 block',
    ],
  },
  'a.ts': {
    source: String.raw`
import { x } from 'y';

export const LIMIT = 10;
/** Doubles. */
export const double = (n: number): number => n * 2;

// A cart.
@Injectable()
export class Cart<T> extends Base {
  add(item: T): void {}
}

export default function () {}
export interface Store {
  get(id: string): string;
}
type Id = string;
export enum Kind {
  A,
}
declare module 'z' {
  export function f(): void;
}
namespace N.M {
  export class Inner {}
}
const TABLE = {
  a: 1,
  b: 2,
};
function over(a: string): void;
export { x };
`,
    chunks: [
      '1-3 block',
      '4-6 function | double | const double = (n: number): number',
      '7-12 class | Cart | class Cart<T> extends Base',
      '13-13 function | default | function ()',
      '14-16 interface | Store | interface Store',
      '17-17 type | Id | type Id = string;',
      '18-20 enum | Kind | enum Kind',
      '21-23 function | z > f | function f(): void;',
      '24-24 block',
      '25-26 class | N.M > Inner | class Inner',
      '27-30 constant | TABLE | const TABLE',
      '31-31 function | over | function over(a: string): void;',
      '32-32 block',
    ],
  },
  'a.tsx': {
    source: String.raw`
export const Button = memo(function Button({ label }: Props) {
  return <button>{label}</button>;
});

export function App(): JSX.Element {
  return <Button label="x" />;
}
`,
    chunks: [
      '1-4 function | Button | const Button = memo(function Button({ label }: Props)',
      '5-7 function | App | function App(): JSX.Element',
    ],
  },
  'b.cs': {
    source: String.raw`
namespace Shop;
using System;
class A { void F() { int G() { return 1; } } }
Console.WriteLine("x");
`,
    chunks: ['1-2 block', '3-3 class | A | class A', '4-4 block'],
  },
  'b.php': {
    source: String.raw`
<html>
<?php namespace A { class B { function c() {} } } ?>
<p><?= $x ?></p>
`,
    chunks: ['1-1 block', '2-2 class | A > B | class B', '3-3 block'],
  },
};

test.each(Object.entries(CASES))('%s is split at its symbols', async (path, { source, chunks }) => {
  const text = source.slice(1);
  const found = await chunkSource({ text, language: detectLanguage(path, text) });
  const labels = found.chunks.map(({ startLine, endLine, kind, parent, symbol, signature }) =>
    [
      `${startLine}-${endLine} ${kind}`,
      [parent, symbol].filter((name) => name !== null).join(' > '),
      signature,
    ]
      .filter((label) => label !== '')
      .join(' | '),
  );
  expect({ isParsed: found.isParsed, chunks: labels }).toEqual({ isParsed: true, chunks });
});

test('every language has a case', () => {
  const languages = Object.entries(CASES).map(([path, { source }]) => detectLanguage(path, source.slice(1)));
  expect(new Set(languages)).toEqual(new Set(Object.keys(GRAMMARS)));
});
