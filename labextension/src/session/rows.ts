/**
 * The session's launches as the panel lists them.
 */

import type { SessionLaunch } from '../../../triton_lab/views/front/scenes.d.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** Those in which every word stands somewhere, newest first. */
export function filtered(launches: readonly SessionLaunch[], words: string): SessionLaunch[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return launches.filter(launch => wanted.every(word => textOf(launch).includes(word))).reverse();
}

/** All that is told of a launch, to be searched and to be read aloud. */
export function textOf(launch: SessionLaunch): string {
  return `${launch.kernel}${launch.grid} ${factsOf(launch)} ${findingsOf(launch)}`.toLowerCase();
}

export function factsOf({ execution, target, time }: SessionLaunch): string {
  const where = { cpu: tr('CPU'), gpu: tr('GPU'), both: tr('GPU and CPU') }[target];
  return [execution === null ? '' : tr('cell [{number}]', { number: execution }), where, time].filter(Boolean).join(' · ');
}

export function findingsOf({ findings }: SessionLaunch): string {
  return findings === 'none' ? tr('no findings') : findings;
}

/** The last launch of a cell, if it is listed. */
export function lastOf(launches: readonly SessionLaunch[], cell: string | undefined): SessionLaunch | null {
  return launches.filter(launch => cell !== undefined && launch.cell === cell).at(-1) ?? null;
}

/** The two to be compared: the one pinned last that is not the other, and the other; or the two that are pinned. */
export function pairOf(launches: readonly SessionLaunch[], other: SessionLaunch | null): [number, number] | null {
  const pinned = launches.filter(launch => launch.pinned).map(({ number }) => number);
  const beside = pinned.filter(number => number !== other?.number).at(-1);
  if (other && beside !== undefined) {
    return [beside, other.number];
  }
  return pinned.length === 2 ? [pinned[0]!, pinned[1]!] : null;
}
