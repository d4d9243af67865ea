/**
 * Keeps state and tells who asks.
 * @packageDocumentation
 */
import type { Reducer } from './types';
import React, { useState } from "react";

/** What a store holds. */
export interface State<T extends object = {}> extends Base {
  readonly items: T[];
  select?(id: string, ...rest: number[]): T | undefined;
  [key: string]: unknown;
  new (x: number): State;
}

export type Listener = (state: State) => void;
export type Options = {
  /** How long to wait, in ms. */
  delay?: number
  retries: number
};

export enum Level { Debug, Info = 10, Error = "error" }

declare global {
  interface Window { store: Store }
}

export abstract class Store<S = State> implements Iterable<S> {
  private readonly listeners = new Set<Listener>();
  protected static count = 0;

  constructor(private initial: S, public name = "store") {}

  /** Adds a listener; returns how to remove it. */
  subscribe(listener: Listener): () => void {
    return () => { this.listeners.delete(listener) };
  }

  abstract dispatch(action: { type: string }): S;
  get state(): S { return this.initial }
}

export function create(amount = 1): Store {
  return new Promise<{ data: number }>((resolve) => resolve({ data: amount }));
}
export function create(amount: string): Store;

export namespace util {
  export const noop = (): void => {};
  const hidden = 1;
}

const reducer: Reducer = (s, a) => s;
function internal<T>(x: T): x is NonNullable<T> { return x != null }

export { reducer as default };
