export interface Gateway {
  readonly id: string;
  readonly name: string;
  readonly origin: 'config_file' | 'registered';
  readonly transport?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly enabled: boolean;
  readonly reachable: boolean;
  readonly state: string;
  /** A sentence. */
  readonly cause?: string;
  readonly era?: string;
  readonly revision?: string;
  readonly trust?: { readonly value: boolean; readonly origin: string };
  readonly toolCount: number;
}

export interface GatewayList {
  readonly gateways: readonly Gateway[];
}
