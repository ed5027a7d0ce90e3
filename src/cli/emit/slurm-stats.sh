#!/bin/bash
# The sums of {{ name }} over {{ files|length }} file{% if files|length != 1 %}s{% endif %} in {{ shards }} shards.
#   bash THIS     submits the array, and a task that adds up the parts once all have succeeded
#   sbatch THIS   submits only the array
# Both accept further options of sbatch, for example --time=1:00:00. A part is written completely or not at all.
#SBATCH --job-name=dpgp-{{ slug }}-sums
#SBATCH --array=1-{{ shards }}
#SBATCH --cpus-per-task={{ cpus }}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=dpgp-{{ slug }}-sums-%A_%a.log
set -eu
dpgp=${DPGP:-dpgp}
name={{ name|shell }}
parts=$PWD/{{ slug }}-sums

if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    mkdir -p "$parts"
    array=$(sbatch --parsable "$@" "$0")
    array=${array%%;*}
    adder=$(sbatch --parsable --dependency="afterok:$array" --job-name=dpgp-{{ slug }}-add \
        --output=dpgp-{{ slug }}-add-%j.log \
        --wrap="$(printf 'rm -f %q; exec %q sum %q --out %q --add' "$parts.json" "$dpgp" "$name" "$parts.json"; printf ' %q' "$parts"/part{1..{{ shards }}}.json)")
    echo "array $array, adder ${adder%%;*}; the sums will be in $parts.json"
    exit
fi

mkdir -p "$parts"
# A task that runs again replaces its part.
rm -f "$parts/part$SLURM_ARRAY_TASK_ID.json"
exec "$dpgp" sum "$name"{% for file in files %} {{ file|shell }}{% endfor %} --shard "$SLURM_ARRAY_TASK_ID/{{ shards }}" \
    --jobs {{ cpus }} --out "$parts/part$SLURM_ARRAY_TASK_ID.json"
