/** Made from the scenes of all views by `python -m triton_lab.views.declarations`: not to be edited. */

/** Bytes: from a widget a DataView, from a page's own data an array. */
export type Bytes = DataView | Uint8Array;

/** Accesses to an argument. ``elsewhere``: active and masked lanes outside the argument. */
export interface AccessesScene {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
  finer?: string;
  window?: number[];
  values?: Buffer;
  kind: "accesses";
  title: string;
  says: Record<string, string>;
  over: string;
  unit: number;
  argument: StoredArgument;
  grid: number[];
  program: number | null;
  iteration: number | null;
  layer: string;
  heatmap: Cells;
  layers: Record<string, LayerScene>;
  counts: Buffer;
  elsewhere: [number, number];
  nobody: string;
}

/** The cell of its array that each of these visits touches. ``may``: data decides whether it does. */
export interface AccessScene {
  statement: string;
  key: string;
  kind: string;
  text: string;
  may: boolean;
  array: number;
  visits: Buffer;
  cells: Buffer;
}

/** The part that answers a `Question`; in ``scene``, ``{"buffer": k}`` stands for the k-th buffer of the message. */
export interface Answer {
  part: string;
  scene: unknown;
}

/** A tensor argument; strides and offset in elements. */
export interface ArgumentScene {
  name: string;
  shape: number[];
  strides: number[];
  offset: number;
}

/** An array. ``picture``: its name and cells. ``size``: the pixels of a cell; the first cell is ``top`` down. */
export interface ArrayScene {
  name: string;
  low: number[];
  shape: number[];
  rows: number;
  columns: number;
  picture: DrawingScene;
  size: [number, number];
  top: number;
}

/** Straight arrows. ``ends``: x and y of both ends of each; see `drawing.ArrowLines`. */
export interface ArrowsItem {
  what: "arrows";
  ends: Buffer;
  colour: string;
  width: number;
  head: number;
  gap: number;
  dashes: number[];
  beside: number;
}

/** The values of the variables of ``program``, for an editor. */
export interface AssignedScene {
  kind: "assigned";
  program: number;
  values: AssignedTexts[];
}

/** The values that a variable took on a line, in words: the first ``texts``, of ``count``, and the ``last``. */
export interface AssignedTexts {
  line: number;
  name: string;
  texts: string[];
  last: string;
  count: number;
}

export interface AxisScene {
  name: string;
  size: number;
}

/** Another program: its value at the same visit of each step, in words; "" where it does not come there. */
export interface BesideScene {
  program: string;
  values: string[];
}

/** A column: bit ``bit`` of a part of the hardware moves the element by ``vector``. ``empty``: where the bit is set, the place keeps no element. */
export interface BitScene {
  part: string;
  bit: number;
  vector: number[];
  empty: boolean;
}

/** The data shared by blocks of one shape: ``first`` is the first position in each cell, + 1. */
export interface BlockScene {
  layout: Layout;
  first: Buffer;
  panelNames: string[];
  room: [number, number];
}

/** A border: ``ends``, and ``at``, the place of its label, as (x, y) in units. */
export interface BorderLine {
  ends: number[][];
  label: string;
  at: [number, number];
  key: string;
}

export interface BoxItem {
  what: "box";
  x: number;
  y: number;
  width: number;
  height: number;
  fill: string;
  edge: string;
  opacity: number;
  line: number;
  radius: number;
  dashed: boolean;
  tag: string;
}

/** An array of numbers: little-endian bytes and the name of their type. */
export interface Buffer {
  type: "u1" | "u2" | "u4" | "u8" | "i4" | "i8" | "f4" | "f8";
  bytes: Bytes;
}

/** A card. ``told``: whether a finding already says what ``failure`` does. ``compare``: a call to be copied that compares the launch with an expected result. */
export interface CardScene {
  kind: "card";
  title: string;
  facts: string[];
  grid: number[];
  headings: string[];
  table: string[][];
  scalars: string[];
  findings: FindingScene[];
  failure: string;
  told: boolean;
  remarks: string[];
  show: string[];
  source: MarkedSource;
  unchecked: string;
  tabs: TabScene[];
  opened: string | null;
  parts: Record<string, Scene>;
  compare?: string;
}

/** The experiments, a row each below ``headings``, and their conclusion. */
export interface CausesScene {
  kind: "causes";
  title: string;
  headings: string[];
  table: string[][];
}

/** The marks of a cell; ``refuted`` says that launches were tried for what is not proved. */
export interface CellProofs {
  name: string;
  marks: ProofMark[];
  refuted: boolean;
}

/** A heatmap without its look: ``cells`` has the class of each cell. */
export interface Cells {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
  cells: Buffer;
}

export interface ChoiceScene {
  kind: "choice";
  items: ItemScene[];
}

/** Circles. ``centres``: x and y of each; ``which``: the index in ``fills`` of each, empty if all have the first. ``piled``: they overlap, so that each covers those before it. */
export interface CirclesItem {
  piled?: boolean;
  what: "circles";
  centres: Buffer;
  radius: number;
  fills: string[];
  which: Buffer;
  ring: string;
  line: number;
}

/** A way. ``outcome`` stands over what was ``measured``. */
export interface ColumnScene {
  title: string;
  picture: DrawingScene;
  program: string;
  can: string[];
  cannot: string[];
  measured: string[];
  outcome?: string;
}

export interface ColumnsScene {
  kind: "columns";
  title: string;
  columns: ColumnScene[];
}

/** One argument: heatmaps of both and of the error, and of the error by program if programs are known. ``values`` are those of both, ``errors`` are in ``unit`` (signed), and ``programs`` stored the element (-1 for none); each for the ``worst`` element of each cell. */
export interface ComparedScene {
  name: string;
  told: string;
  heatmaps: HeatmapScene[];
  by_program: HeatmapScene | null;
  values: Buffer[];
  errors: Buffer;
  unit: string;
  programs: Buffer;
  worst: Buffer;
}

/** A comparison. ``open``: the argument that is shown first. ``later``: the part with the causes, if they are not yet known; ``cause``: the cause of the difference, if it was found. */
export interface ComparisonScene {
  kind: "comparison";
  title: string;
  titles: string[];
  headings: string[];
  table: string[][];
  lines: string[];
  tried: string[];
  causes: string[][];
  arguments: ComparedScene[];
  grid: number[];
  open: number;
  later?: string;
  cause?: string;
}

export interface CompilationScene {
  kind: "compilation";
  title: string;
  facts: string[];
  tabs: TabScene[];
  parts: Record<string, Scene>;
}

/** A table under ``headings``. ``problems``: what would keep a GPU from running the kernel. */
export interface CompiledScene {
  kind: "compiled";
  title: string;
  problems: string[];
  headings: string[];
  table: string[][];
}

/** Parameters as (value, least, most), and the iterators that are not drawn likewise; null stands for all values. */
export interface Controls {
  parameters: Record<string, [number, number, number]>;
  iterators: string[];
  hidden: Record<string, [number | null, number, number]>;
}

/** A conversion. ``flow``: the places after it, coloured by how far their elements have to come. ``moves``: for each bit of a place after, the packed place before. ``ways`` say how an element gets there if it stays, or comes from another register, lane, warp or CTA. ``element`` (in reading order) is picked at first. */
export interface ConversionScene {
  kind: "conversion";
  title: string;
  says: string[];
  ways: string[];
  shape: number[];
  before: SideScene;
  after: SideScene;
  flow: HeldScene;
  moves: number[];
  element: number | null;
}

/** The cost of a launch. ``facts``: names and values. ``roofs``, of which ``shown`` is open. ``listing``: line, text and its shares, from 0 to 1, of the totals that ``shares`` names, None where a share is not known; ``totals`` are these totals. */
export interface CostScene {
  kind: "cost";
  title: string;
  facts: [string, string][];
  roofs: RoofScene[];
  shown: number;
  shares: string[];
  totals: string[];
  listing: ([number, string, (number | null)[]])[];
  problem: string;
}

/** A program's steps: after step ``stops[k]`` it stops before line ``lines[k]``. */
export interface DebuggerScene {
  kind: "debugger";
  steps: StepsScene;
  stops: number[];
  lines: number[];
  note: string;
  watches: WatchScene[];
  beside: BesideScene | null;
}

/** A statement's instances, and how many pixels they are moved. In space, its circles have the points. */
export interface DomainLayer {
  name: string;
  points: Buffer;
  shift: [number, number];
}

/** A drawing. ``source``: the generated kernels, "" for none. */
export interface DrawingScene {
  kind: "drawing";
  width: number;
  height: number;
  items: (BoxItem | WordsItem | LineItem | SegmentsItem | ArrowsItem | PolygonsItem | CirclesItem)[];
  source: string;
  label: string;
}

/** The look of cells: a style for each class (or for each of its levels), labels, legend, colour bar. */
export interface Dress {
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
}

/** A heatmap whose cells are sent separately. */
export interface DressedPlace {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
}

/** A finding beside a line. ``fix``: for each edit its line, before and after; missing if there is no fix. */
export interface FindingNote {
  line: number;
  severity: "error" | "warning" | "note";
  message: string;
  hint: string;
  fix: [number, string, string][];
}

/** A finding. ``hint``: what to do. ``stopped``: whether it ended the launch as an error. ``where``: its line in words. ``orders``: the possible outcomes of a race, a line each. ``fix``: for each edit its line, before and after. ``explains``: it may explain a wrong result. ``sort``: its kind. ``about``: what the kind means, a paragraph each. ``page``: the address of its page on a site, "" for none. */
export interface FindingScene {
  severity: string;
  icon: string;
  line: number | null;
  program: number | null;
  message: string;
  hint: string;
  excerpt: string[];
  stopped: boolean;
  orders: string[];
  fix: [number, string, string][] | null;
  where?: string;
  explains?: boolean;
  sort?: string;
  about?: string[];
  page?: string;
}

/** A picture with windows of single positions, if its cells stand for several. ``finer``: the name of such windows. ``window``: the single positions that this picture shows (panel, row, column, rows, columns), if it is a window. */
export interface Finer {
  finer?: string;
  window?: number[];
}

/** A part about one program, which is replaced once another program is picked. */
export interface FollowScene {
  kind: "follow";
  name: string;
  window: number;
  program: number;
  parts: Record<string, Scene>;
}

export interface FormulaMatrix {
  rows: string[][];
  keys: string[];
}

export interface FormulaScene {
  name: string;
  lines: ((FormulaWords | FormulaMatrix)[])[];
}

export interface FormulaWords {
  text: string;
  key: string;
}

/** The styles of the levels: the fixed ones, those of the ramp, and a colour for each of a few programs. It also has the legend and the ticks of programs. */
export interface GridRamp {
  styles: Buffer;
  start: number;
  levels: number;
  programs: [number[], string][];
  name: string;
  ticks: [number, string][];
}

/** The grid. ``stopped``: where programs stopped, if the launch did; ``marks``: the programs of findings. */
export interface GridScene {
  kind: "grid";
  kernel: string;
  says: Record<string, string>;
  grid: number[];
  program: number | null;
  layer: string;
  sms: number;
  heatmap: Cells;
  ramp: GridRamp;
  numbers: Record<string, Buffer>;
  masked: Buffer;
  loaded: Buffer;
  stored: Buffer;
  inputs: InputScene[];
  target: TargetScene | null;
  stopped?: StopScene;
  marks?: [string, [number, number, number, number, number][]][];
}

/** The scene of a `heatmap.Heatmap`. */
export interface HeatmapScene {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
  cells: Buffer;
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
}

/** A heatmap in which each position (in reading order, + 1) is a class; ``styles`` has the looks of classes. Look 0 is that of nothing. A cell that stands for several positions shows the first. */
export interface HeldScene {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
  levels: Buffer;
}

/** Which programs read which parts of an argument, and how many bytes each part has. */
export interface InputScene {
  name: string;
  nbytes: Buffer;
  starts: Buffer;
  items: Buffer;
}

/** An access in words; ``own``: the other program does not touch that memory. */
export interface InterleavedAccess {
  line: number | null;
  words: string;
  own: boolean;
}

/** A result with one order for it: 0 and 1 for the programs. */
export interface InterleavedOutcome {
  values: string[];
  order: number[];
  problem: string;
}

/** A state: the shared values, where each program stands, the lines that come next, and the step of each. */
export interface InterleavedState {
  values: string[];
  told: string[];
  lines: number[];
  steps: InterleavedStep[];
}

/** A step: the number of the state it leads to (below 0: none), and its accesses. */
export interface InterleavedStep {
  to: number;
  accesses: InterleavedAccess[];
}

/** Two programs, from state 0 on. ``begin`` are their own accesses before the first step of all. */
export interface InterleavingScene {
  kind: "interleaving";
  title: string;
  grid: number[];
  numbers: number[];
  programs: string[];
  cells: string[];
  more: string;
  source: SourceLines;
  begin: InterleavedAccess[];
  states: InterleavedState[];
  summary: string;
  outcomes: InterleavedOutcome[];
  note: string;
}

/** One of several pictures; ``lines`` of the source lead to it. */
export interface ItemScene {
  name: string;
  label: string;
  window?: number;
  lines: number[];
}

/** An iteration domain. ``chosen``: positions in ``visits`` of the instance shown with what it reads and writes. ``runs``: for each line of ``program``, the statement that it runs, "" for none. */
export interface IterationScene {
  name: string;
  dims: string[];
  still: DrawingScene | null;
  over: DrawingScene | null;
  solid: SolidScene | null;
  middle: number[];
  frame: [number, number, number, number];
  layers: DomainLayer[];
  lines: BorderLine[];
  visits: Buffer;
  places: Buffer;
  instants: Buffer;
  fronts: boolean;
  kind: "iteration";
  title: string;
  order: boolean;
  time: PlaneScene | null;
  arrays: ArrayScene[];
  accesses: AccessScene[];
  formulas: [string, FormulaScene[]][];
  program: string;
  runs: string[];
  notes: ([string, "faint" | "legal" | "violated"])[];
  legend: DrawingScene;
  controls: Controls;
  moves: MovesScene | null;
  chosen: number[];
}

/** A value of the kernel: its text in the list, its source line, and the part that draws it. It also says whether the value is an address, a mask or an index, which few readers look for. */
export interface LaidOutScene {
  cells: string[];
  line: number | null;
  part: string;
  minor: boolean;
}

/** ``values``: of each element at its last access. Scenes of large arguments, and of older notebooks, lack them. */
export interface LastValues {
  values?: Buffer;
}

/** ``first``: the number of each kernel's first launch. */
export interface LaunchesScene {
  kind: "launches";
  title: string;
  headings: string[];
  table: string[][];
  first: number[];
  remarks: string[];
  count: number;
  parts: Record<string, Scene>;
}

/** One way of colouring. ``levels``: the style of each class. */
export interface LayerScene {
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
  levels: Buffer;
}

/** The scene of a `cell_layout.CellLayout`. */
export interface Layout {
  shape: number[];
  origin: number[];
  panels: number;
  across: number;
  rows: number;
  columns: number;
  down: number;
  right: number;
}

/** A layout. ``axes``: the parts of the hardware that make up a position, the outermost first. ``inputs``: the parts that the matrix names, that of a position's lowest bits first. ``padding``: how many elements are left free after each interval of shared memory. ``bits`` are those of an element. ``columns``: a drawing of the matrix, whose boxes have the numbers of their columns as tags. ``element`` (in reading order) or ``picked`` (numbers by part) is picked at first. */
export interface LayoutScene {
  kind: "layout";
  title: string;
  says: string[];
  where: string;
  shape: number[];
  bits: number;
  axes: AxisScene[];
  inputs: string[];
  padding: [number, number][];
  tensor: HeldScene;
  hardware: HeldScene;
  matrix: MatrixScene;
  columns: DrawingScene;
  element: number | null;
  picked: Record<string, number>;
}

/** The values of a kernel in a table under ``headings``; ``first`` is the part that is shown at first. */
export interface LayoutsScene {
  kind: "layouts";
  title: string;
  headings: string[];
  rows: LaidOutScene[];
  first: string;
  parts: Record<string, Scene>;
}

export interface LineItem {
  opacity?: number;
  what: "line";
  points: [number, number][];
  colour: string;
  width: number;
  curved: boolean;
  dashed: boolean;
  arrow: boolean;
}

/** A note beside a line: ``text`` is the short form, ``told`` the long one; ``share`` is its part of all bytes. */
export interface LineNote {
  line: number;
  share: number;
  text: string;
  told: string;
}

/** Elements that were loaded: by which ``lines``, ascending, and, if these differ, the lines of each cell. */
export interface LoadedScene {
  finer?: string;
  window?: number[];
  layout: Layout;
  room: [number, number];
  title: string;
  there: number;
  cells: Buffer;
  levels: Buffer;
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  panelNames: string[];
  values?: Buffer;
  lines?: number[];
  loads?: Buffer[];
}

/** An argument's marked cells; ``there`` is the number of its cells. */
export interface MarkedScene {
  finer?: string;
  window?: number[];
  layout: Layout;
  room: [number, number];
  title: string;
  there: number;
  cells: Buffer;
  levels: Buffer;
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  panelNames: string[];
}

/** The lines of a source, each with the kinds of its accesses and the worst finding. */
export interface MarkedSource {
  first: number;
  lines: ([string, string[], string | null])[];
  place?: Whereabouts;
}

/** ``shape`` is the tensor's; the rows are the bits of its dimensions, the lowest first. */
export interface MatrixScene {
  shape: number[];
  bits: BitScene[];
}

export interface MaximalScene {
  kind: "maximal";
  title: string;
  lines: ProgramLine[];
  scenes: (IterationScene | null)[];
}

export interface MemoryScene {
  letter: string;
  unit: number;
  tensors: number[];
}

/** A place in a notebook's cell. ``execution`` is the number of the run that defined the kernel, None for the cell of the output itself. Lines count from 1, columns from 0, in characters; ``text`` is the line as it was then. */
export interface Mistake {
  version: 1;
  execution: number | null;
  line: number;
  start: number;
  end: number;
  text: string;
  message: string;
  advice: string;
}

/** A moment: what happens, the source line (0: not known), and the tags of the bars that belong to it. */
export interface MomentScene {
  told: string;
  line: number;
  tags: string[];
}

/** A loop. ``low`` and ``high``: its least and greatest time. ``line``: the coefficients of its time in the plane, and the constant; empty if its iterations are no lines there. ``parallel``: its iterations run at once. */
export interface MovableLoop {
  name: string;
  low: number;
  high: number;
  line: number[];
  parallel: boolean;
}

/** The pairs of a dependence: the places of source and target in the order. ``may``: data decides whether they depend on each other; ``drawn``: whether those that are kept are drawn. */
export interface MovablePairs {
  kind: string;
  text: string;
  may: boolean;
  drawn: boolean;
  pairs: Buffer;
  colour: string;
  dashes: number[];
  beside: number;
}

/** The loops of an order that the reader made, and whether it is legal. ``runs``: as in `IterationScene`. */
export interface MovedScene {
  kind: "moved";
  program: string;
  runs: string[];
  notes: ([string, "faint" | "legal" | "violated"])[];
}

/** The loops around all statements, outermost first, and what follows from their order. ``times``: for each place in the order the time in each loop; ``rest``: in the dimensions within, called ``names``; ``fixed``: the same, 0 where iterations run at once. ``statement``: the number of its statement in ``statements``; ``points``: its iterators, (places, most iterators). ``rows``: the half spaces of the domain over the loops' times, (coefficients, constant); empty if the loops cannot be written without Python. ``bodies``: each statement's text and, for each of its iterators, (name, coefficients and constant). ``where``: the values of parameters; ``sizes``: the tiles that the picture shows. */
export interface MovesScene {
  loops: MovableLoop[];
  names: string[];
  times: Buffer;
  rest: Buffer;
  fixed: Buffer;
  statements: string[];
  statement: Buffer;
  points: Buffer;
  pairs: MovablePairs[];
  rows: number[][];
  bodies: [string, [string, number[]][]][];
  language: "c" | "python";
  where: string;
  sizes: number[];
  violated: string;
  tile: string;
}

/** A scene within a scene: the names of its parts begin with its own. */
export interface NestedScene {
  kind: "nested";
  name: string;
  scene: Scene;
}

/** The ``lines`` of a source from line ``first`` on, as they were when the launch ran. */
export interface NotedSource {
  cell: number | null;
  path: string;
  first: number;
  lines: string[];
  notes: LineNote[];
  findings: FindingNote[];
}

/** The origins of one element. */
export interface OriginScene {
  kind: "origin";
  title: string;
  stored: string;
  program: number;
  element: number | null;
  pictures: LoadedScene[];
  lines: string[];
}

export interface OriginsScene {
  kind: "origins";
  name: string;
  stored: StoredScene | null;
  looks: number[][];
  shown: OriginScene;
  parts: Record<string, OriginScene>;
}

/** The palette's entries for painting values: start and levels of the ramps, the marks. */
export interface Painting {
  sequential: [number, number];
  diverging: [number, number];
  marks: [number[], string][];
  unknown: number[];
}

export interface PairScene {
  kind: "pair";
  scenes: IterationScene[];
  remarks: string[];
}

/** All passes. ``introduced``: for each operation its explanation, and the passes that make more of it. ``program`` of ``grid`` is the one whose values stand in the diffs; the same for program 7 is the part ``name/7``. */
export interface PassesScene {
  kind: "passes";
  title: string;
  headline: string;
  passes: PassScene[];
  introduced: [string, string, number[]][];
  note: string;
  name?: string;
  grid?: number[];
  program?: number;
}

/** A pass. ``seconds`` is None if the compiler reports no time; ``ops`` have name and counts before and after. ``mark`` and ``result`` say what the module after the pass computes, in a sign and in words; "" if it was not run. */
export interface PassScene {
  name: string;
  argument: string;
  seconds: number | null;
  changed: boolean;
  ops: [string, number, number][];
  mark: string;
  result: string;
  diff: string;
}

/** What is picked in a picture, and what Python has to draw for it: parameters' values, iterators, the place. */
export interface Picked {
  program?: number | null;
  line?: number | null;
  iteration?: number | null;
  step?: number | null;
  operation?: string;
  parameters?: Record<string, number>;
  at?: Record<string, number>;
  dims?: string[];
  automatic?: boolean;
  instance?: number[] | null;
}

/** A film. Moment k begins at ``left + k * step`` in the ``picture``, whose rows end at ``bottom``. */
export interface PipelineScene {
  kind: "pipeline";
  title: string;
  picture: DrawingScene;
  left: number;
  step: number;
  bottom: number;
  moments: MomentScene[];
  note: string;
}

/** A heatmap without cells: their arrangement, and the words around them. ``noun``: what a position is. ``counted``: column k is labelled k times the first number, divided by the second, if that is whole. */
export interface Place {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
}

/** The contents of the plane, or of space. ``still``: the plane with all that no order changes; ``over``: tiles, instants and arrows; ``solid``: space, with the place that is seen in the ``middle``. ``frame``: the pixels of the plane's origin, or of the middle; of a unit; and of a point's radius. Each visit has (layer, point), time and instant. */
export interface PlaneScene {
  name: string;
  dims: string[];
  still: DrawingScene | null;
  over: DrawingScene | null;
  solid: SolidScene | null;
  middle: number[];
  frame: [number, number, number, number];
  layers: DomainLayer[];
  lines: BorderLine[];
  visits: Buffer;
  places: Buffer;
  instants: Buffer;
  fronts: boolean;
}

export interface PolygonsItem {
  what: "polygons";
  corners: [number, number][][];
  fill: string;
  opacity: number;
  edge: string;
  line: number;
}

/** A question, and the picture as a part. ``right`` is the index of the right choice. Without choices, the answer is a number: right if it is ``number``, or at most ``within`` away from it. */
export interface PredictionScene {
  kind: "prediction";
  question: string;
  choices: string[];
  right: number;
  number: number;
  within: number;
  answer: string;
  why: string;
  parts: Record<string, Scene>;
}

/** The product of A (m, k) and B (k, n). ``sizes``: m, n and k; ``tile``: rows and columns; ``program``: its tile. ``heights`` and ``widths`` are what a tile may have. ``matrices`` and ``roof`` are the drawings without what the tile changes. ``boxes``: x, y, width and height of A, B and C, and ``hues`` the colours of their parts; ``axes``: left, right, low and high of the roofline as powers of ten. ``peak`` is in flop/s, ``memory`` in bytes a second, ``registers`` in bytes. ``says``: the sentences, with places for numbers. */
export interface ProductScene {
  kind: "product";
  sizes: [number, number, number];
  itemsize: number;
  tile: [number, number];
  program: [number, number];
  heights: number[];
  widths: number[];
  matrices: DrawingScene;
  boxes: [number, number, number, number][];
  hues: string[];
  roof: DrawingScene;
  axes: [number, number, number, number];
  peak: number;
  memory: number;
  registers: number;
  headings: string[];
  says: Record<string, string>;
  notes: string[];
}

export interface ProgramLine {
  text: string;
  part: number | null;
  reasons: string[];
}

/** What is proved of the accesses on one line of a cell, for every size. ``line`` counts from 1, and ``text`` is that line. ``outcome``: ``proved``, ``refuted`` or ``unknown``; the worst of the line. ``message`` has a line for each access, and the assumptions. */
export interface ProofMark {
  line: number;
  text: string;
  outcome: string;
  message: string;
}

/** A proof; its ``assumptions``, of which there may be many, are folded away. */
export interface ProofScene {
  kind: "proof";
  title: string;
  drawing: DrawingScene;
  refuted: DrawingScene | null;
  assumptions: string[];
}

/** A request of the browser for a part, by name. */
export interface Question {
  part: string;
}

/** Two matrices. ``visits``: for each its words, and the tags of the boxes in A and in B that it meets. */
export interface RaggedScene {
  kind: "ragged";
  title: string;
  matrices: DrawingScene;
  visits: [string, string, string][];
  remark: string;
  program: string;
}

/** The metadata of an output under ``triton_lab``: where its launch ran. */
export interface Ran {
  target: "cpu" | "gpu" | "both";
}

/** A GPU's roof; ``text`` says where the launch stands under it. */
export interface RoofScene {
  name: string;
  drawing: DrawingScene;
  text: string;
  source: string;
}

/** A notebook's output of type ``application/vnd.triton-lab.scene.v1+json``. ``scene`` is packed (see `scene_packing`), and missing if it was too large. ``view`` is the id by which the kernel is asked for more. ``follows``: whether the kernel wants to know what is picked. ``panel``: whether widgets stand around the picture. ``annotations`` are shown by the editor beside the lines of kernels. ``language`` is that of its texts, if that is not English. */
export interface Saved {
  version: 1;
  follows: boolean;
  panel: boolean;
  scene?: string;
  view?: string;
  annotations?: NotedSource[];
  language?: string;
}

/** Straight lines. ``dashes``: how much is drawn and how much is left out, in turns. */
export interface SegmentsItem {
  what: "segments";
  ends: [[number, number], [number, number]][];
  colour: string;
  width: number;
  dashes: number[];
}

/** A picture in the form of an output, to be shown beside the notebook. */
export interface SessionCard {
  name: string;
  title: string;
  output: Saved;
  text: string;
}

/** A launch of the session. ``cell`` is the notebook's id of its cell, ``execution`` the number of the run. ``kept``: the launch itself still exists, beyond this summary. */
export interface SessionLaunch {
  number: number;
  cell: string | null;
  execution: number | null;
  kernel: string;
  grid: string;
  target: "cpu" | "gpu" | "both";
  time: string;
  findings: string;
  severity: string | null;
  kept: boolean;
  pinned: boolean;
}

/** The launches of the session, the newest last; ``dropped`` is the number of older ones no longer listed. */
export interface SessionLaunches {
  launches: SessionLaunch[];
  dropped: number;
}

/** A target that a cell can choose: ``name`` is the word for its line; ``why`` says why it is missing, else "". */
export interface SessionTarget {
  name: string;
  help: string;
  why: string;
}

/** The targets of the session. ``known`` is false until Triton has been imported: which GPU it will find is not known before, and the lists are empty. */
export interface SessionTargets {
  known: boolean;
  active: string;
  gpu: string;
  triton: string;
  version: string;
  targets: SessionTarget[];
  compile: SessionTarget[];
}

export interface SessionText {
  name: string;
  content: string;
}

/** One layout of a conversion: its places and bits, as in a `LayoutScene`, and the tensor. */
export interface SideScene {
  axes: AxisScene[];
  inputs: string[];
  padding: [number, number][];
  matrix: MatrixScene;
  tensor: HeldScene;
}

/** Arrows between places. ``shifts``: how many pixels their ends are moved; the rest as in `ArrowsItem`. */
export interface SolidArrowsItem {
  what: "arrows";
  ends: Buffer;
  shifts: [[number, number], [number, number]];
  colour: string;
  width: number;
  head: number;
  gap: number;
  dashes: number[];
  beside: number;
}

/** An arrow from ``low`` along each coordinate to that of ``high``, with its name. */
export interface SolidAxesItem {
  what: "axes";
  low: [number, number, number];
  high: [number, number, number];
  names: string[];
  colour: string;
  size: number;
}

/** Circles around ``places``, the farthest first. ``shift``: how many pixels they are moved. */
export interface SolidCirclesItem {
  what: "circles";
  places: Buffer;
  radius: number;
  fill: string;
  ring: string;
  line: number;
  shift: [number, number];
  piled: boolean;
}

/** A flat polygon, its corners around it. */
export interface SolidFaceItem {
  what: "face";
  corners: [number, number, number][];
  fill: string;
  opacity: number;
  edge: string;
  edgeOpacity: number;
}

/** Names outside of a body with these ``corners``: words, place and half the width of each. */
export interface SolidNamesItem {
  what: "names";
  names: [string, [number, number, number], number][];
  corners: [number, number, number][];
  colour: string;
  size: number;
  room: number;
}

/** A drawing in space, which a reader can turn. */
export interface SolidScene {
  width: number;
  height: number;
  items: (SolidAxesItem | SolidFaceItem | SolidCirclesItem | SolidArrowsItem | SolidNamesItem)[];
}

export interface SourceLines {
  first: number;
  lines: string[];
}

/** A stage as text: ``text`` has its lines, ``numbers`` their line numbers in the whole stage. ``trail`` has for each line the index of its entry in ``trails``, + 1: rows of the source, the innermost first, and the same in words. ``op`` likewise is an index into ``ops``: name and explanation. ``left``: how many lines did not fit. */
export interface StageScene {
  name: string;
  label: string;
  text: string;
  numbers: Buffer;
  trail: Buffer;
  trails: [number[], string][];
  op: Buffer;
  ops: [string, string][];
  left: number;
}

/** A source and its stages. ``source``: rows of line number, text, and why the line has no instructions; a row with line 0 names a function. ``shown``: the stages that stand beside the source at first. */
export interface StagesScene {
  kind: "stages";
  title: string;
  source: [number, string, string][];
  stages: StageScene[];
  shown: string[];
  note: string;
}

/** A step. ``shape`` is an index into the scene's pictures. */
export interface StepScene {
  kind: string;
  line: number | null;
  name: string | null;
  words: string;
  value: string;
  shape: number;
  ends: [number, number];
  block: Buffer | null;
  mask: Buffer | null;
}

export interface StepsScene {
  kind: "steps";
  title: string;
  program: number;
  grid: number[];
  source: SourceLines;
  steps: StepScene[];
  pictures: BlockScene[];
  painting: Painting;
  step: number;
}

/** The place of each program when the launch was stopped, as an index into ``says``, whose first entry is empty. */
export interface StopScene {
  states: Buffer;
  says: string[];
}

/** A heatmap of storage. If a launch touches its cells, classes differ by touches, too; ``levels`` are styles. */
export interface StorageHeatmap {
  noun?: string;
  counted?: [number, number];
  layout: Layout;
  title: string;
  panelNames: string[];
  right: string;
  down: string;
  room: [number, number];
  rules: [number, number];
  cells: Buffer;
  marks?: [string, [number, number, number, number, number][]][];
  ticks?: [number, string][];
  styles: Buffer;
  labels: [number, number, number, number, number, string][];
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  rampName: string;
  groups: Buffer | null;
  finer?: string;
  window?: number[];
  levels: Buffer | null;
  touched: ToldTouches | null;
}

export interface StorageScene {
  strips: StorageHeatmap[];
  grids: StorageHeatmap[];
  launchGrid: number[] | null;
  overlaps: string[];
  nobody: string;
  kind: "storage";
  headings: string[];
  table: string[][];
  tensors: TensorScene[];
  memories: MemoryScene[];
}

/** A tensor argument in storage; ``itemsize`` is in bytes. */
export interface StoredArgument {
  name: string;
  shape: number[];
  strides: number[];
  offset: number;
  itemsize: number;
}

/** Elements that were stored: the first element in each cell, + 1, and that of each program. */
export interface StoredScene {
  finer?: string;
  window?: number[];
  layout: Layout;
  room: [number, number];
  title: string;
  there: number;
  cells: Buffer;
  levels: Buffer;
  legend: [number[], string][];
  ramp: [number, number, number, number] | null;
  panelNames: string[];
  values?: Buffer;
  argument: string;
  shape: number[];
  line: number | null;
  elements: Buffer;
  first: Buffer;
  grid: number[];
}

/** ``drawing`` is the figure, ``table`` every row in words below ``headings``. */
export interface SweepScene {
  kind: "sweep";
  title: string;
  drawing: DrawingScene;
  headings: string[];
  table: string[][];
}

/** A tab. ``window``: how many programs one part of it covers, if it follows the picked program. */
export interface TabScene {
  name: string;
  label: string;
  window?: number;
}

/** The argument beside the grid. ``first``: a program of each class of the accesses, + 1. */
export interface TargetScene {
  accesses: AccessesScene;
  first: Buffer;
}

/** A tensor in storage. ``start``: bytes from the start of the memory to the tensor's storage. */
export interface TensorScene {
  name: string;
  shape: number[];
  strides: number[];
  offset: number;
  itemsize: number;
  memory: number;
  start: number;
}

/** A tiling: for each class of elements the programs that touch them. */
export interface TilingScene {
  kind: "tiling";
  title: string;
  argument: ArgumentScene;
  grid: number[];
  program: number | null;
  layer: string;
  layers: Record<string, DressedPlace>;
  cells: Buffer;
  classOf: Buffer;
  starts: Buffer;
  items: Buffer;
  accesses: ([number | null, string])[];
  elsewhere: [number, number];
  nobody: string;
  astray: string[];
  finer?: string;
  window?: number[];
  values?: Buffer;
}

/** A timeline. ``counts`` of lanes by row and column; ``columns``: the first and the last element of each. ``values`` by row and column, where a cell is one access to one element. ``nobody``: why there is no heatmap. ``lines``: the source lines of each row's accesses. ``owners``: the first and the last program of each cell, -1 for none, where the colours are programs. */
export interface TimelineScene {
  kind: "timeline";
  title: string;
  heatmap: HeatmapScene | null;
  counts: Buffer;
  moments: string[];
  columns: [number, number][];
  finer?: string;
  window?: number[];
  values?: Buffer;
  nobody?: string;
  lines?: number[][];
  grid?: number[];
  owners?: Buffer[];
}

/** The touches of a heatmap's classes. ``of``: for each class of the heatmap, its class here. */
export interface ToldTouches {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
  of: Buffer;
}

/** Storage, and who touches it. ``launchGrid``: the grid of the launch that touches the cells, null for none. */
export interface TouchedScene {
  strips: StorageHeatmap[];
  grids: StorageHeatmap[];
  launchGrid: number[] | null;
  overlaps: string[];
  nobody: string;
}

/** Who touches the cells of each class, and when: runs of ``items``, each beginning at ``starts``. */
export interface Touches {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
}

/** The traffic of an access: ``counts`` of bytes or words (``unit``) by ``rows`` and ``columns``. Rows and columns have names in words. Without a heatmap the ``note`` says why there is none. ``ends``: the first and the last element that is used of each column, with their ``values`` (columns, 2). */
export interface TrafficScene {
  kind: "traffic";
  title: string;
  heatmap: HeatmapScene | null;
  counts: Buffer;
  rows: string[];
  columns: string[];
  unit: string;
  note: string;
  values?: Buffer;
  ends?: [string, string][];
}

/** The accesses of a launch: ``table``, under ``headings``, has a row for each, with its source line. ``traffics`` has the picture of ``program`` for each row, None if it did not fit; ``programs`` says for which rows programs differ. ``shown`` is the row that is open at first; ``worst`` names the access that wastes most, and what to do. */
export interface TransactionsScene {
  kind: "transactions";
  title: string;
  name: string;
  grid: number[];
  worst: string;
  headings: string[];
  table: string[][];
  lines: (number | null)[];
  programs: boolean[];
  program: number;
  shown: number;
  traffics: (TrafficScene | null)[];
  problems: string[];
}

/** A variable. ``mask``: 0 for an untouched element; ``bars``: the histogram, if it is always the same; ``line`` assigns it. */
export interface VariableScene {
  kind: "variable";
  title: string;
  name: string;
  fixed: string | null;
  empty: string;
  dtype: string;
  block: number[];
  picture: BlockScene;
  painting: Painting;
  ends: [number, number];
  programs: Buffer;
  dropped: number;
  reached: Buffer[];
  values: Buffer[];
  grid: number[];
  program: number;
  iteration: number;
  line?: number;
  mask?: Buffer;
  bars?: DrawingScene;
}

/** An `Answer` over a comm; ``panel`` is the widget model around the view, if there is one. */
export interface ViewAnswer {
  part: string;
  scene: unknown;
  view: string;
  panel: string | null;
}

/** What was picked in a view whose kernel then draws another picture; the answer is the part "". */
export interface ViewPicked {
  view: string;
  picked: Picked;
}

/** A `Question` over a comm, to the view of that id; the part "" is the whole picture. */
export interface ViewQuestion {
  part: string;
  view: string;
}

/** A watched expression: ``values[k]`` is its value from step ``steps[k]`` on. */
export interface WatchScene {
  text: string;
  steps: number[];
  values: string[];
}

/** The place of a kernel's lines: the cell with that run's number, else the file ``path``. The path is relative to the notebook's folder, or to the folder of the file's package. Older notebooks have absolute paths. */
export interface Whereabouts {
  cell: number | null;
  path: string;
}

/** Single positions of a picture: the part that its `Finer` names. */
export interface WindowScene {
  kind: "window";
  heatmap: StorageHeatmap;
}

/** Words. ``halo``: the colour around the letters, "" for none. */
export interface WordsItem {
  halo?: string;
  what: "words";
  x: number;
  y: number;
  text: string;
  size: number;
  colour: string;
  align: "left" | "center" | "right";
  bold: boolean;
  mono: boolean;
}

export interface WordsScene {
  kind: "words";
  text: string;
}

/** Whatever draws itself. */
export type Scene =
  | AccessesScene
  | AssignedScene
  | CardScene
  | CausesScene
  | ChoiceScene
  | ColumnsScene
  | ComparisonScene
  | CompilationScene
  | CompiledScene
  | ConversionScene
  | CostScene
  | DebuggerScene
  | DrawingScene
  | FollowScene
  | GridScene
  | InterleavingScene
  | IterationScene
  | LaunchesScene
  | LayoutScene
  | LayoutsScene
  | MaximalScene
  | MovedScene
  | NestedScene
  | OriginScene
  | OriginsScene
  | PairScene
  | PassesScene
  | PipelineScene
  | PredictionScene
  | ProductScene
  | ProofScene
  | RaggedScene
  | StagesScene
  | StepsScene
  | StorageScene
  | SweepScene
  | TilingScene
  | TimelineScene
  | TrafficScene
  | TransactionsScene
  | VariableScene
  | WindowScene
  | WordsScene;
