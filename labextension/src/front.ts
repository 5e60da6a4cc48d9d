/**
 * The views' own scripts, which draw a scene wherever it stands.
 */

export {
  CannotDraw, TooLarge, annotationsOf, packedOf, partIn, savedOf, sceneOf, showSaved, tookParts, withPart
} from '../../triton_lab/views/front/saved.js';
export { leftBehind, placeName } from '../../triton_lab/views/front/place.js';
export { createSelection } from '../../triton_lab/views/front/selection.js';
