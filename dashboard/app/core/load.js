// What screens read: a value, or a list page by page. A read that is no longer wanted is given up.

import { useEffect, useRef, useState } from "./ui.js";
import * as api from "./api.js";

/**
 * @template T
 * @typedef {{value: T | undefined, error: any, busy: boolean, reload: () => void, set: (v: T) => void}} Loaded
 */

/**
 * Reads a value when the screen opens and whenever what it depends on changes. While it is read
 * again, the value from before stays.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} read
 * @param {any[]} depends
 * @returns {Loaded<T>}
 */
export function useLoad(read, depends) {
  const [state, setState] = useState({ value: undefined, error: null, busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const leave = new AbortController();
    setState((s) => ({ ...s, busy: true }));
    read(leave.signal).then(
      (value) => leave.signal.aborted || setState({ value, error: null, busy: false }),
      (error) => leave.signal.aborted || setState((s) => ({ ...s, error, busy: false })),
    );
    return () => leave.abort();
  }, [...depends, turn]);
  return { ...state, reload: () => setTurn(turn + 1), set: (value) => setState({ value, error: null, busy: false }) };
}

/**
 * @typedef {{rows: any[] | undefined, error: any, busy: boolean, hasMore: boolean, more: () => void, reload: () => void,
 *   change: (id: string, row: any) => void}} List
 */

/**
 * Reads a list page by page.
 * @param {string} path
 * @param {Record<string, any> | null} query null waits
 * @param {number} [limit]
 * @returns {List}
 */
export function useList(path, query, limit = 50) {
  const [state, setState] = useState({ rows: undefined, error: null, busy: true, cursor: null });
  const [turn, setTurn] = useState(0);
  const wanted = useRef(new AbortController());
  const key = JSON.stringify([path, query, turn]);

  /** @param {string | null} cursor @param {any[]} before */
  async function read(cursor, before) {
    const { signal } = wanted.current;
    setState((s) => ({ ...s, busy: true }));
    try {
      const { data, pagination } = await api.page(path, { ...query, limit, cursor }, signal);
      const rows = [...before, ...data];
      if (!signal.aborted) setState({ rows, error: null, busy: false, cursor: pagination.hasMore ? pagination.nextCursor : null });
    } catch (error) {
      if (!signal.aborted) setState((s) => ({ ...s, error, busy: false }));
    }
  }

  useEffect(() => {
    if (!query) return;
    wanted.current = new AbortController();
    read(null, []);
    return () => wanted.current.abort();
  }, [key]);

  return {
    rows: state.rows, error: state.error, busy: state.busy, hasMore: Boolean(state.cursor),
    more: () => state.busy || read(state.cursor, state.rows),
    reload: () => setTurn(turn + 1),
    change: (id, row) =>
      setState((s) => ({
        ...s, rows: s.rows.flatMap((r) => (r.id === id ? (row ? [row] : []) : [r])),
      })),
  };
}

/** Calls again and again until it is done, more slowly with time. @param {() => Promise<boolean>} look returns whether it is done @param {any[]} depends */
export function usePolling(look, depends) {
  useEffect(() => {
    const leave = new AbortController();
    (async () => {
      for (let wait = 500; !leave.signal.aborted; wait = Math.min(wait * 1.3, 5000)) {
        await api.pause(wait, leave.signal);
        if (!document.hidden && (await look())) return;
      }
    })().catch(() => {});
    return () => leave.abort();
  }, depends);
}

/** Waits until nothing has changed for a moment. @template T @param {T} value @param {number} ms @returns {T} */
export function useSettled(value, ms) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [JSON.stringify(value)]);
  return settled;
}
