// The part of WebAssembly that is used here. TypeScript declares it only together with browser types.
declare namespace WebAssembly {
  type Module = object;
  interface Instance {
    readonly exports: object;
  }
  const Module: new (bytes: Uint8Array) => Module;
  const Instance: new (module: Module, imports: object) => Instance;
}
