// What is used of WebAssembly, which TypeScript declares only together with the types of browsers.
declare namespace WebAssembly {
  type Module = object;
  interface Instance {
    readonly exports: object;
  }
  const Module: new (bytes: Uint8Array) => Module;
  const Instance: new (module: Module, imports: object) => Instance;
}
