/**
 * What the status bar tells of a kernel's targets.
 */

import type { SessionTargets } from '../../../triton_lab/views/front/scenes.d.ts';

/** Short, and in full. */
export function statusOf({ known, active, gpu, triton, version }: SessionTargets): { text: string; title: string } {
  const full = `triton-lab ${version}, Triton ${triton}`;
  if (!known) {
    return { text: `Triton ${triton}`, title: `${full}: import Triton to see where kernels run` };
  }
  const where = active.toUpperCase();
  return {
    text: `Triton ${triton} · ${where}${gpu ? ` · ${gpu}` : ' · no GPU'}`,
    title: `${full}: kernels run on the ${where}; ${gpu ? `GPU: ${gpu}` : 'Triton finds no GPU'}`
  };
}
