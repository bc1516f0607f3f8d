// Preact, htm and signals are classic scripts in vendor/, unchanged from npm. This module is the
// only one that knows their global names.

/** @typedef {import("preact").ComponentChildren} Children */

const { preact, preactHooks, preactSignals, preactSignalsCore, htm } = /** @type {any} */ (globalThis);

/** Makes elements from template strings. */
export const html = htm.bind(preact.h);
export const { render, Fragment, createContext } = preact;
export const { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId, useContext } = preactHooks;
export const { signal, computed, effect, batch } = preactSignalsCore;
export const { useSignal, useComputed } = preactSignals;

/**
 * Joins the names of classes that hold.
 * @param {...(string | false | null | undefined)} names
 */
export const classes = (...names) => names.filter(Boolean).join(" ");
