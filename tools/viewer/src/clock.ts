/** Time of the page: what is played, how fast, in which loop. One clock moves the view, the plots and the scrub bar. */

export const kSpeeds = [1 / 20, 1 / 10, 1 / 5, 1 / 2, 1, 2, 4];

export class Clock {
  t: number;
  playing = false;
  loop = true;
  speed = 1;
  from: number; // what is looped
  to: number;
  private listeners: (() => void)[] = [];

  constructor(readonly begin: number, readonly end: number) {
    this.t = begin; this.from = begin; this.to = end;
  }
  /** Called after every change. */
  onChange(listener: () => void): void { this.listeners.push(listener); }
  private changed(): void { for (const listener of this.listeners) listener(); }

  seek(t: number): void {
    this.t = Math.min(this.end, Math.max(this.begin, Number.isFinite(t) ? t : this.begin));
    this.changed();
  }
  toggle(): void {
    if (!this.playing && this.t >= this.to - 1e-9) this.t = this.from;
    this.playing = !this.playing;
    this.changed();
  }
  pause(): void { this.playing = false; this.changed(); }
  setLoop(loop: boolean): void { this.loop = loop; this.changed(); }
  /** Steps along kSpeeds. */
  changeSpeed(steps: number): void {
    let nearest = 0;
    kSpeeds.forEach((s, i) => {
      if (Math.abs(Math.log(s / this.speed)) < Math.abs(Math.log(kSpeeds[nearest] / this.speed))) nearest = i;
    });
    this.setSpeed(kSpeeds[Math.min(kSpeeds.length - 1, Math.max(0, nearest + steps))]);
  }
  setSpeed(speed: number): void {
    this.speed = Math.min(kSpeeds[kSpeeds.length - 1], Math.max(kSpeeds[0], Number.isFinite(speed) ? speed : 1));
    this.changed();
  }
  /** The loop: from..to; an empty one is the whole. */
  setRange(from: number, to: number): void {
    this.from = Math.max(this.begin, Math.min(from, to));
    this.to = Math.min(this.end, Math.max(from, to));
    if (!(this.to - this.from > 1e-6)) { this.from = this.begin; this.to = this.end; }
    this.changed();
  }
  /** Moves on by `dt` seconds of the wall. */
  advance(dt: number): void {
    if (!this.playing) return;
    let t = this.t + dt * this.speed;
    if (t >= this.to) {
      const length = this.to - this.from;
      if (this.loop && length > 0) t = this.from + ((t - this.from) % length);
      else { t = this.to; this.playing = false; }
    }
    this.t = t;
    this.changed();
  }
}

/** "0.05", "1/20": what a speed is called. */
export function speedName(speed: number): string {
  return speed >= 1 ? `${Number(speed.toPrecision(3))}×` : `1/${Math.round(1 / speed)}×`;
}
