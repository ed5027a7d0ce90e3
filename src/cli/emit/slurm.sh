#!/bin/bash
# {{ name }} in {{ shards }} shards.
#   bash THIS     fetches the data, and submits the array and a collector that runs after it, even if tasks fail
#   sbatch THIS   submits only the array
# Both accept further options of sbatch, for example --time=1:00:00. A task that is stopped keeps its finished results.
# To resume, run the same command again, or let the cluster requeue the task (RequeueExit=75).
#SBATCH --job-name=dpgp-{{ slug }}
#SBATCH --array=1-{{ shards }}
#SBATCH --cpus-per-task={{ cpus }}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@120
#SBATCH --output=dpgp-{{ slug }}-%A_%a.log
set -eu
dpgp=${DPGP:-dpgp}
name={{ name|shell }}
store={{ store|shell }}

if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
{% if datasets %}
    "$dpgp" data fetch{% for word in datasets + places %} {{ word|shell }}{% endfor %}

{% endif %}
    array=$(sbatch --parsable "$@" "$0")
    array=${array%%;*}
    collector=$(sbatch --parsable --dependency="afterany:$array" --job-name=dpgp-{{ slug }}-collect \
        --output=dpgp-{{ slug }}-collect-%j.log \
        --wrap="$(printf 'exec %q collect %q --store %q --offline' "$dpgp" "$store" "$store"){% for word in places %} {{ word|shell }}{% endfor %}")
    echo "array $array, collector ${collector%%;*}"
    exit
fi

exec "$dpgp" run "$name" --shard "$SLURM_ARRAY_TASK_ID/{{ shards }}" --store "$store" --offline --quiet{% for word in places %} {{ word|shell }}{% endfor %}

