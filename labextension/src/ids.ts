/**
 * The names of commands, as settings and shortcuts have them.
 */

export const RUN_ON = 'triton-lab:run-on';
export const CHOOSE = 'triton-lab:choose-target';
export const SHOW_LAUNCHES = 'triton-lab:show-launches';
export const OPEN_CARD = 'triton-lab:open-card';
export const PIN = 'triton-lab:pin';
export const COMPARE = 'triton-lab:compare';
export const COPY_HTML = 'triton-lab:copy-html';
export const INSERT_TEMPLATE = 'triton-lab:insert-template';
export const OPEN_COURSE = 'triton-lab:open-course';
export const SET_TARGET = 'triton-lab:set-target';
export const SET_COMPILE = 'triton-lab:set-compile';
export const SET_ALL = 'triton-lab:set-all-targets';
