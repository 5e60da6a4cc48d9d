/** Made from the scenes of all views by `python -m triton_lab.views.declarations`: not to be edited. */

/** Bytes: from a widget a DataView, from a page's own data an array. */
export type Bytes = DataView | Uint8Array;

/** ``elsewhere``: active and masked lanes outside the argument. */
export interface AccessesScene {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
  finer?: string;
  window?: number[];
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

/** Which cell of its array each of these visits touches. */
export interface AccessScene {
  statement: string;
  key: string;
  kind: string;
  text: string;
  array: number;
  visits: Buffer;
  cells: Buffer;
}

/** The part; in ``scene``, ``{"buffer": k}`` stands for the k-th buffer of the message. */
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

export interface ArrayScene {
  name: string;
  low: number[];
  shape: number[];
  rows: number;
  columns: number;
}

/** What an editor says of the variables of ``program``. */
export interface AssignedScene {
  kind: "assigned";
  program: number;
  values: AssignedTexts[];
}

/** What a variable was given on a line, in words: the first ``texts``, of ``count``, and the ``last``. */
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

/** A column: bit ``bit`` of a part of the hardware moves the element by ``vector``; ``empty``: where it is set, no element is kept. */
export interface BitScene {
  part: string;
  bit: number;
  vector: number[];
  empty: boolean;
}

/** What any block of one shape needs: ``first`` is the first position in each cell, + 1. */
export interface BlockScene {
  layout: Layout;
  first: Buffer;
  panelNames: string[];
  room: [number, number];
}

/** ``ends`` and ``at``, where its label stands, as (x, y) in units. */
export interface BorderLine {
  ends: number[][];
  label: string;
  at: [number, number];
  key: string;
}

/** Colours are a theme's, by name, or "#rrggbb". */
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

/** Numbers: little-endian bytes and the name of their type. */
export interface Buffer {
  type: "u1" | "u2" | "u4" | "u8" | "i4" | "i8" | "f4" | "f8";
  bytes: Bytes;
}

/** ``told``: whether a finding says what ``failure`` does. */
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
}

/** What was tried, a row each below ``headings``, and what it says. */
export interface CausesScene {
  kind: "causes";
  title: string;
  headings: string[];
  table: string[][];
}

/** A heatmap that is still to be dressed: ``cells`` has the class of each cell. */
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

/** ``picture`` is a PNG for light pages, ``dark`` for dark ones. */
export interface ColumnScene {
  title: string;
  picture: Bytes;
  dark: Bytes;
  width: number;
  alt: string;
  program: string;
  can: string[];
  cannot: string[];
  measured: string[];
}

export interface ColumnsScene {
  kind: "columns";
  title: string;
  columns: ColumnScene[];
}

/** One argument: heatmaps of both and of the error, and of the error by program where that is known. ``values`` are of both, ``errors`` in ``unit`` (signed) and ``programs`` who stored it (-1 for nobody), each for the ``worst`` element of each cell. */
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

/** ``open``: the argument that is shown first; ``later``: the part with the causes, where they are not yet known; ``cause``: what made the difference, where that was found. */
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

/** ``table`` under ``headings``; ``problems``: what would keep a GPU from running it. */
export interface CompiledScene {
  kind: "compiled";
  title: string;
  problems: string[];
  headings: string[];
  table: string[][];
}

/** Parameters as (value, least, most); iterators that are not drawn alike, null where they stand at all values. */
export interface Controls {
  parameters: Record<string, [number, number, number]>;
  iterators: string[];
  hidden: Record<string, [number | null, number, number]>;
}

/** ``flow``: the places after, by how far what they hold comes; ``moves``: for each bit of a place after, the packed place before; ``ways`` tell how what stays, and what comes from a register, lane, warp or CTA, does so. ``element`` (in reading order) is picked at first. */
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

/** ``facts``: names and values. ``roofs``, of which ``shown`` is open; ``intensity`` in operations a byte, None where no bytes are moved. ``listing``: line, text and its shares, from 0 to 1, of what ``shares`` names, None where that is not known; ``totals`` what they are shares of. */
export interface CostScene {
  kind: "cost";
  title: string;
  facts: [string, string][];
  intensity: number | null;
  roofs: RoofScene[];
  shown: number;
  shares: string[];
  totals: string[];
  listing: ([number, string, (number | null)[]])[];
  problem: string;
}

/** ``ends``: from and to, in instances. */
export interface DomainArrows {
  kind: string;
  source: string;
  target: string;
  violated: boolean;
  ends: Buffer;
}

/** A statement's instances; polygons and faces by their corners. */
export interface DomainLayer {
  name: string;
  points: Buffer;
  polygons: number[][][];
  faces: [string, number[][]][];
}

/** ``source``: the generated kernels, "" for none. */
export interface DrawingScene {
  kind: "drawing";
  width: number;
  height: number;
  items: (BoxItem | WordsItem | LineItem)[];
  source: string;
  label: string;
}

/** What cells look like: a style for each class (or for each of its levels), labels, legend, colour bar. */
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

/** A heatmap whose cells stand elsewhere. */
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

/** ``fix``: for each edit its line, before and after; none where there is none. */
export interface FindingNote {
  line: number;
  severity: "error" | "warning" | "note";
  message: string;
  hint: string;
  fix: [number, string, string][];
}

/** ``hint``: what to do. ``stopped``: whether it is what ended the launch, as an error. ``where``: its line in words. ``orders``: what a race may leave, a line each. ``fix``: for each edit its line, before and after. */
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
}

/** ``finer``: what windows of the picture are called, where its cells stand for several positions. ``window`` of single positions (panel, row, column, rows, columns), where the cells are those of one alone. */
export interface Finer {
  finer?: string;
  window?: number[];
}

/** A part of one program, which gives way to another program's. */
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

/** The styles of the levels: the fixed ones, those of the ramp, and a colour for each of a few programs; the legend and the ticks of programs. */
export interface GridRamp {
  styles: Buffer;
  start: number;
  levels: number;
  programs: [number[], string][];
  name: string;
  ticks: [number, string][];
}

/** ``stopped`` of a launch that was; ``marks`` are the programs that findings are about. */
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

/** See `heatmap.Heatmap`. */
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

/** A heatmap in which each position (in reading order, + 1) is a class, whose look is one of ``styles``; look 0 is that of nothing. A cell that stands for several shows the first. */
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

/** ``lines`` that the part concerns. */
export interface ItemScene {
  name: string;
  label: string;
  window?: number;
  lines: number[];
}

/** ``chosen``: positions in ``visits`` of the instance that is shown with what it reads and writes. */
export interface IterationScene {
  dims: string[];
  box: [number, number, number, number] | null;
  low: number[];
  high: number[];
  layers: DomainLayer[];
  lines: BorderLine[];
  arrows: DomainArrows[];
  tiles: number[][][];
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
  notes: ([string, "faint" | "legal" | "violated"])[];
  controls: Controls;
  chosen: number[];
}

/** A value: what stands in the list, the line of the source, the part that draws it, and whether it is an address, a mask or an index, which few look for. */
export interface LaidOutScene {
  cells: string[];
  line: number | null;
  part: string;
  minor: boolean;
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

/** ``levels``: which style each class has. */
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

/** See `layout.Layout`. */
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

/** ``axes``: what a position of the hardware is made of, the outermost first; ``inputs``: the parts that the matrix names, the one whose bits are the lowest of a position first; ``padding``: so many elements are left free after each interval of shared memory. ``bits`` are those of an element. ``element`` (in reading order) or ``picked`` (numbers by part) is what is picked at first. */
export interface LayoutScene {
  kind: "layout";
  title: string;
  says: string[];
  heading: string;
  where: string;
  shape: number[];
  bits: number;
  axes: AxisScene[];
  inputs: string[];
  padding: [number, number][];
  tensor: HeldScene;
  hardware: HeldScene;
  matrix: MatrixScene;
  element: number | null;
  picked: Record<string, number>;
}

/** The values of a kernel under ``headings``; ``first``: the part that is shown at first. */
export interface LayoutsScene {
  kind: "layouts";
  title: string;
  headings: string[];
  rows: LaidOutScene[];
  first: string;
  parts: Record<string, Scene>;
}

export interface LineItem {
  what: "line";
  points: [number, number][];
  colour: string;
  width: number;
  curved: boolean;
  dashed: boolean;
  arrow: boolean;
}

/** ``text`` stands beside the line, ``told`` says it in full; ``share``: of the bytes that the kernel moves. */
export interface LineNote {
  line: number;
  share: number;
  text: string;
  told: string;
}

/** What was loaded: by which ``lines``, ascending, and, where they are not one for all, each one's cells. */
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
  lines?: number[];
  loads?: Buffer[];
}

/** An argument's marked cells; ``there`` is how many cells it has. */
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

/** Lines, each with the kinds of its accesses and the worst finding. */
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

/** The place in a notebook's cell: ``execution`` is the number of the run that made the kernel, None for the cell of the output itself. Lines count from 1, columns from 0, in characters; ``text`` is the line as it was then. */
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

/** A scene in a scene: its parts are asked for behind its name. */
export interface NestedScene {
  kind: "nested";
  name: string;
  scene: Scene;
}

/** ``lines`` from the ``first`` on, as they were when the launch ran. */
export interface NotedSource {
  cell: number | null;
  path: string;
  first: number;
  lines: string[];
  notes: LineNote[];
  findings: FindingNote[];
}

/** One element's origins. */
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

/** Where the palette has what values are painted with: start and levels of the ramps, the marks. */
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

/** ``introduced``: for each operation its explanation and the passes behind which there are more of it. */
export interface PassesScene {
  kind: "passes";
  title: string;
  passes: PassScene[];
  introduced: [string, string, number[]][];
  note: string;
}

/** ``seconds`` is None where the compiler did not say; ``ops`` have name and how many before and after. */
export interface PassScene {
  name: string;
  argument: string;
  seconds: number | null;
  changed: boolean;
  ops: [string, number, number][];
  diff: string;
}

/** What is picked in a picture, and what Python is asked to draw: parameters' values, iterators and where. */
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

/** A heatmap without cells: how they are arranged, and the words around them; ``noun``: what a position is; ``counted``: column k bears the number k times the first by the second, where that is whole. */
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

/** What lies in the plane (or in space, which has no box). Of each visit: (layer, point), its time, its instant. */
export interface PlaneScene {
  dims: string[];
  box: [number, number, number, number] | null;
  low: number[];
  high: number[];
  layers: DomainLayer[];
  lines: BorderLine[];
  arrows: DomainArrows[];
  tiles: number[][][];
  visits: Buffer;
  places: Buffer;
  instants: Buffer;
  fronts: boolean;
}

export interface ProgramLine {
  text: string;
  part: number | null;
  reasons: string[];
}

/** The browser asks for a part by its name. */
export interface Question {
  part: string;
}

/** ``columns`` of each row. */
export interface RaggedScene {
  kind: "ragged";
  title: string;
  columns: number[][];
  width: number;
  remark: string;
  program: string;
}

/** What an output's metadata say below ``triton_lab``: where its launch ran. */
export interface Ran {
  target: "cpu" | "gpu" | "both";
}

/** A GPU: ``memory`` in bytes and ``peak`` in operations a second, of ``kind`` numbers; ``text`` says where the launch stands under it. */
export interface RoofScene {
  name: string;
  memory: number;
  peak: number;
  kind: string;
  rate: number;
  text: string;
  source: string;
}

/** A notebook's output of type ``application/vnd.triton-lab.scene.v1+json``. ``scene`` is packed (see `packing`), and missing where it was too large. ``view`` is the id by which the kernel is asked for more, ``follows`` whether it is told what is picked, ``panel`` whether widgets stand around the picture. ``annotations`` are what the editor shows beside the lines of kernels. */
export interface Saved {
  version: 1;
  follows: boolean;
  panel: boolean;
  scene?: string;
  view?: string;
  annotations?: NotedSource[];
}

/** A picture as an output keeps it, to be shown beside the notebook. */
export interface SessionCard {
  name: string;
  title: string;
  output: Saved;
  text: string;
}

/** A launch of the session. ``cell`` is the notebook's id of its cell, ``execution`` the number of the run, ``kept`` whether there still is more of it than stands here. */
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

/** The newest last; ``dropped`` is how many before them are no longer listed. */
export interface SessionLaunches {
  launches: SessionLaunch[];
  dropped: number;
}

/** Something that a cell can ask for: the ``name`` is what stands in its line, ``why`` is "" where it is there. */
export interface SessionTarget {
  name: string;
  help: string;
  why: string;
}

/** ``known`` is false until Triton has been imported: nobody can say yet what GPU it will find, and the lists are empty. */
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

/** A layout of a conversion: its places and bits, as in a `LayoutScene`, and the tensor. */
export interface SideScene {
  axes: AxisScene[];
  inputs: string[];
  padding: [number, number][];
  matrix: MatrixScene;
  tensor: HeldScene;
}

export interface SourceLines {
  first: number;
  lines: string[];
}

/** A stage as it is read: ``text`` has its lines, ``numbers`` those that they have in the whole stage. ``trail`` has for each line which of the ``trails`` it comes along, + 1: rows of the source, the innermost first, and that in words; ``op`` likewise which of the ``ops`` it is: name and explanation. ``left``: how many lines there was no room for. */
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

/** ``source``: rows of line number, text and why it has no instructions; a row with line 0 names a function. ``shown``: the stages that stand beside the source at first. */
export interface StagesScene {
  kind: "stages";
  title: string;
  source: [number, string, string][];
  stages: StageScene[];
  shown: string[];
  note: string;
}

/** ``shape`` numbers the scene's pictures. */
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

/** Where each program was when the launch was stopped: the number of one of ``says``, whose first is empty. */
export interface StopScene {
  states: Buffer;
  says: string[];
}

/** Where a launch touches the cells, classes tell that apart; ``levels`` has their styles then. */
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

/** ``itemsize`` in bytes. */
export interface StoredArgument {
  name: string;
  shape: number[];
  strides: number[];
  offset: number;
  itemsize: number;
}

/** What was stored: the first element in each cell, + 1, and each program's. */
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

/** ``window``: how many programs a part of it covers, where it follows the picked program. */
export interface TabScene {
  name: string;
  label: string;
  window?: number;
}

/** ``first``: a program of each class of the accesses, + 1. */
export interface TargetScene {
  accesses: AccessesScene;
  first: Buffer;
}

/** ``start``: bytes from the start of the memory to the tensor's storage. */
export interface TensorScene {
  name: string;
  shape: number[];
  strides: number[];
  offset: number;
  itemsize: number;
  memory: number;
  start: number;
}

export interface TilingScene {
  finer?: string;
  window?: number[];
  kind: "tiling";
  title: string;
  argument: ArgumentScene;
  grid: number[];
  program: number | null;
  layer: string;
  layers: Record<string, DressedPlace>;
  verbs: Record<string, string>;
  cells: Buffer;
  classOf: Buffer;
  starts: Buffer;
  items: Buffer;
  accesses: ([number | null, string])[];
  elsewhere: [number, number];
  nobody: string;
  astray: string[];
}

/** ``counts`` of lanes by row and column, ``columns``: each one's first and last element. ``nobody``: why there is no heatmap. ``lines``: of each row's accesses. */
export interface TimelineScene {
  kind: "timeline";
  title: string;
  heatmap: HeatmapScene | null;
  counts: Buffer;
  moments: string[];
  columns: [number, number][];
  finer?: string;
  window?: number[];
  nobody?: string;
  lines?: number[][];
}

/** ``of``: the class here of each class of a heatmap. */
export interface ToldTouches {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
  of: Buffer;
}

/** ``launchGrid``: of the launch that touches the cells, null for none. */
export interface TouchedScene {
  strips: StorageHeatmap[];
  grids: StorageHeatmap[];
  launchGrid: number[] | null;
  overlaps: string[];
  nobody: string;
}

/** Who touches the cells of each class, and when: runs of ``items`` from ``starts``. */
export interface Touches {
  starts: Buffer;
  items: Buffer;
  moments: ([number, number | null, string])[];
}

/** ``counts`` of bytes or words (``unit``) by ``rows`` and ``columns``, which are told in words. Without a heatmap the ``note`` says why there is none. */
export interface TrafficScene {
  kind: "traffic";
  title: string;
  heatmap: HeatmapScene | null;
  counts: Buffer;
  rows: string[];
  columns: string[];
  unit: string;
  note: string;
}

/** ``table`` under ``headings``: a row for each access, with its line of the source; ``traffics`` has what each row shows of ``program``, None where there was no room; ``programs`` says for which rows programs differ. ``shown`` is the row that is open at first; ``worst`` what wastes most, and what to do. */
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

/** ``mask``: 0 where an element was not touched; ``spread``: all values, for the bars; ``line`` that assigns it. */
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
  spread?: Buffer;
}

/** The answer over a comm; ``panel`` is the widget's model that stands for the view, if it has one. */
export interface ViewAnswer {
  part: string;
  scene: unknown;
  view: string;
  panel: string | null;
}

/** What was picked in a view of which the kernel draws another picture then: the answer is the part "". */
export interface ViewPicked {
  view: string;
  picked: Picked;
}

/** The same over a comm, to the view of that id; the part "" is the whole picture. */
export interface ViewQuestion {
  part: string;
  view: string;
}

/** Where a kernel's lines stand: in the cell with that number beside it, else in the file ``path``. The path goes from the folder of the notebook, or from where its package lies. Earlier notebooks have whole ones. */
export interface Whereabouts {
  cell: number | null;
  path: string;
}

/** Single positions of a picture, as its `Finer` part. */
export interface WindowScene {
  kind: "window";
  heatmap: StorageHeatmap;
}

export interface WordsItem {
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
  | DrawingScene
  | FollowScene
  | GridScene
  | IterationScene
  | LaunchesScene
  | LayoutScene
  | LayoutsScene
  | MaximalScene
  | NestedScene
  | OriginScene
  | OriginsScene
  | PairScene
  | PassesScene
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
